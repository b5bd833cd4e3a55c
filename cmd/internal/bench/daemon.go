package main

import (
	"os"
	"path/filepath"
	"time"

	"fulmen/daemon/api"
)

// readyDeadline bounds the start of a daemon.
const readyDeadline = 30 * time.Second

// daemonRows measures the daemon.
func (b *run) daemonRows() error {
	folder, err := os.MkdirTemp("", "fulmen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, api.ConfigFile), []byte("[api]\nport = 0\n"), 0o600); err != nil {
		return err
	}
	if err := b.daemonStart(folder); err != nil {
		return err
	}
	if err := b.goBench(goBenches()["watchers"], b.left()/5); err != nil {
		return err
	}
	return b.idle(folder)
}
