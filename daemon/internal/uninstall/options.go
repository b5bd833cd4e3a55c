package uninstall

import (
	"context"

	"fulmen/daemon/internal/home"
)

// Options say what is uninstalled, and how the system is told.
type Options struct {
	// Folders are the daemon's, as its configuration has them.
	Folders home.Folders
	// OS is "darwin" or "linux".
	OS string
	// Root is put before the paths of the system's own folders; empty but in tests.
	Root string
	// Programs is the folder of Fulmen's programs, or empty; IsAlone says that all
	// folders are under one that somebody chose, so that the system was not touched.
	Programs string
	IsAlone  bool
	// Undo counts the changes that a record of them has and that were not put back. One
	// that cannot be read has some.
	Undo func(path string) int
	// Run runs a command of the system, such as systemctl; its error has what the
	// command said.
	Run func(ctx context.Context, name string, args ...string) error
	// Ranks ends what runs on of jobs; nil where nothing can.
	Ranks func(ctx context.Context) error
}
