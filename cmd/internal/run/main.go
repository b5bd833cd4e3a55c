package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

// maxHome is the longest path of a folder in which the daemon's socket has a
// path that the system takes (103 bytes on macOS, 107 on Linux).
const maxHome = 85

func main() {
	once := flag.Bool("once", false, "measure once, then end")
	programs := flag.String("programs", "build/bin", "the folder of fulmend and fulmen-rank")
	home := flag.String("home", "build/home", "the folder for everything that the daemon keeps")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *programs, *home, *once)
	if errors.Is(err, context.Canceled) {
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
	d, err := startDaemon(ctx, filepath.Join(programs, "fulmend"), home)
	if err != nil {
		return err
	}
	defer d.stop()
	c, err := client.Dial(ctx, client.Options{Addresses: []client.Address{{Socket: d.socket}}})
	if err != nil {
		return err
	}
	defer c.Close()

	screen := newScreen(os.Stdout)
	if err := showMachine(ctx, c); err != nil {
		return err
	}
	info, err := client.Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
	if err != nil {
		return err
	}
	fmt.Printf("  API %s, folder %s\n\n", info.APIURL, home)
	if err := measure(ctx, c, screen); err != nil {
		return err
	}
	if err := exchange(ctx, filepath.Join(programs, "fulmen-rank"), screen); err != nil {
		return err
	}
	if once {
		return nil
	}
	fmt.Println("\nFulmen runs. Ctrl-C ends it.")
	return showLive(ctx, c, screen)
}

// one gets this node's document of a kind into value; false where there is
// none yet.
func one(ctx context.Context, c *client.Client, kind api.Kind, value any) (api.Document, bool, error) {
	state, err := client.Call[api.StateGetResult](ctx, c, "state.get", api.StateSelect{Kinds: []api.Kind{kind}})
	if err != nil || len(state.Docs) == 0 {
		return api.Document{}, false, err
	}
	return state.Docs[0], true, state.Docs[0].Decode(value)
}
