// Command run is `make run`: it starts the daemon in the foreground, in a
// folder of its own under build/, has the command line show and measure this
// machine, has two workers exchange data, and then shows the machine's state as it
// moves, until Ctrl-C. With -once it ends after the measurements.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/testcluster"
)

// maxHome is the longest path of a folder in which the daemon's socket has a
// path that the system takes (103 bytes on macOS, 107 on Linux).
const maxHome = 85

// readyDeadline bounds the start of the daemon, until it knows which MLX is installed.
const readyDeadline = time.Minute

func main() {
	once := flag.Bool("once", false, "measure once, then end")
	programs := flag.String("programs", "build/bin", "the folder of fulmen, fulmend and fulmen-rank")
	home := flag.String("home", "build/home", "the folder for everything that the daemon keeps")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *programs, *home, *once)
	if ctx.Err() != nil {
		fmt.Println("\nStopped.")
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "make run:", err)
		stop()
		os.Exit(1)
	}
}

// run has a daemon measure this machine, and shows it.
func run(ctx context.Context, programs, home string, once bool) error {
	home, err := filepath.Abs(home)
	if err != nil {
		return err
	}
	if len(home) > maxHome {
		if home, err = os.MkdirTemp("", "fulmen-run-"); err != nil {
			return err
		}
		defer os.RemoveAll(home)
	}
	d := &testcluster.Daemon{Home: home}
	defer d.End(syscall.SIGTERM)
	if err := ready(ctx, d, filepath.Join(programs, "fulmend")); err != nil {
		return fmt.Errorf("%w; the log is in %s, and make build builds the daemon", err, home)
	}
	fulmen := func(args ...string) error {
		c := exec.CommandContext(ctx, filepath.Join(programs, "fulmen"), args...)
		c.Env = append(os.Environ(), api.EnvHome+"="+home)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
		if err := c.Run(); err != nil {
			return fmt.Errorf("fulmen %s: %w", args[0], err)
		}
		return nil
	}
	err = errors.Join(fulmen("status"), fulmen("measure", "gpu"))
	if err != nil {
		return err
	}
	if err := exchange(ctx, filepath.Join(programs, "fulmen-rank")); err != nil || once {
		return err
	}
	fmt.Println("\nFulmen runs. Ctrl-C ends it.")
	return fulmen("watch", "memory", "system")
}

// ready starts the daemon and waits until it has learnt what MLX there is. A signal to
// the whole group reaches it by itself.
func ready(ctx context.Context, d *testcluster.Daemon, program string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyDeadline, errors.New("the daemon was not ready in a minute"))
	defer cancel()
	command := exec.Command(program)
	command.Env = append(os.Environ(), api.EnvHome+"="+d.Home)
	if err := d.Run(ctx, "the daemon", command); err != nil {
		return err
	}
	for event, err := range d.Client.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindIdentity}}) {
		if err != nil {
			return err
		}
		for _, document := range event.Put {
			if document.Unknown["mlx_version"] != api.ReasonNotYetRead {
				return nil
			}
		}
	}
	return context.Cause(ctx)
}
