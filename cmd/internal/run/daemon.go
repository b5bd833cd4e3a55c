package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"fulmen/daemon/api"
)

// readyDeadline bounds the start of the daemon.
const readyDeadline = 30 * time.Second

// running is a daemon in the foreground.
type running struct {
	process *exec.Cmd
	socket  string
}

// startDaemon starts the daemon and waits until it says that it is ready.
func startDaemon(ctx context.Context, program, home string) (*running, error) {
	// A signal to the whole group reaches the daemon by itself; stop waits.
	process := exec.Command(program)
	process.Env = append(os.Environ(), api.EnvHome+"="+home)
	log, err := process.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the daemon: %w; make build makes it", err)
	}
	d := &running{process: process, socket: filepath.Join(home, "run", api.SocketFile)}
	ready := make(chan error, 1)
	go func() { ready <- d.awaitReady(log) }()
	ctx, cancel := context.WithTimeoutCause(ctx, readyDeadline, errors.New("the daemon was not ready after 30 s; its log is in "+home))
	defer cancel()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

// awaitReady reads the log up to the line that says where the daemon serves,
// and drops what follows: the log has a file of its own.
func (d *running) awaitReady(log io.Reader) error {
	var before []string
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "msg=ready") {
			go io.Copy(io.Discard, log)
			return nil
		}
		before = append(before, lines.Text())
	}
	return fmt.Errorf("the daemon did not start:\n%s", strings.Join(before, "\n"))
}

// stop ends the daemon in order.
func (d *running) stop() {
	if err := d.process.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = d.process.Process.Kill()
	}
	_ = d.process.Wait()
}
