package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"fulmen/cmd/internal/bench/stats"
	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/daemon/client"
	"fulmen/native"
	"fulmen/native/nativetest"
)

const (
	// hints is how many changes are timed, a settling time apart.
	hints = 100
	// between is longer than the 150 ms after which the daemon reads once more,
	// so that each change is a first hint, which is read at once.
	between = 250 * time.Millisecond
	// readyDeadline bounds the start of a daemon.
	readyDeadline = 30 * time.Second
)

// hintToClient measures the time from a change of the machine to the document
// at a client of the same node, over the Unix socket, in milliseconds.
func hintToClient(ctx context.Context, home string) ([]float64, error) {
	machine := nativetest.NewMachine(nativetest.NewClock(time.Now()), native.Snapshot{
		Identity: &native.Identity{Name: "bench", Architecture: runtime.GOARCH},
		Memory:   &native.Memory{}, System: &native.System{}, Network: &native.Network{},
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A daemon finds its folders by the environment.
	if err := os.Setenv(api.EnvHome, home); err != nil {
		return nil, err
	}
	defer os.Unsetenv(api.EnvHome)
	ready, ended := make(chan daemon.Address, 1), make(chan error, 1)
	go func() {
		ended <- daemon.Run(ctx, daemon.Options{
			Platform: machine.Platform(), Worker: "/nonexistent/fulmen-rank",
			Ready: func(a daemon.Address) { ready <- a },
		})
	}()
	var address daemon.Address
	select {
	case address = <-ready:
	case err := <-ended:
		return nil, fmt.Errorf("the daemon did not start: %w", err)
	case <-time.After(readyDeadline):
		return nil, fmt.Errorf("the daemon was not ready after %v", readyDeadline)
	}
	c, err := client.Dial(ctx, client.Options{Addresses: []client.Address{{Socket: address.Socket}}})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	took, err := timeHints(ctx, c, machine)
	cancel()
	<-ended
	return took, err
}

// timeHints changes the machine again and again, and waits for each change at
// the client.
func timeHints(ctx context.Context, c *client.Client, machine *nativetest.Machine) ([]float64, error) {
	seen := make(chan string, 1)
	failed := make(chan error, 1)
	go func() {
		for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindNetwork}}) {
			if err != nil {
				failed <- err
				return
			}
			for _, document := range event.Put {
				var network api.Network
				if document.Decode(&network) == nil {
					seen <- network.PrimaryInterface
				}
			}
		}
	}()
	<-seen // the snapshot
	var times []float64
	for n := range hints {
		name := fmt.Sprintf("en%d", n)
		began := time.Now()
		machine.Change(func(s *native.Snapshot) { s.Network.PrimaryInterface = name }, native.AreaNetwork)
		for got := ""; got != name; {
			select {
			case got = <-seen:
			case err := <-failed:
				return nil, err
			case <-time.After(readyDeadline):
				return nil, fmt.Errorf("a change did not reach the client in %v", readyDeadline)
			}
		}
		times = append(times, float64(time.Since(began))/1e6)
		time.Sleep(between)
	}
	return times, nil
}

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
	fmt.Fprintln(os.Stderr, "bench: from a change of the machine to a client")
	times, err := hintToClient(b.ctx, folder)
	if err != nil {
		return err
	}
	five := 5.0
	b.rows = append(b.rows,
		newRow("change to client, same node", stats.Median(times), "ms", Lower, nil, "", "hint to document at a client of the Unix socket"),
		newRow("change to client, same node, p99", stats.Quantile(times, 0.99), "ms", Lower, &five, "", "the same"))

	fmt.Fprintln(os.Stderr, "bench: start of the daemon")
	if err := b.daemonStart(folder); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "bench: 100 watchers")
	if err := b.fanOut(); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "bench: an idle daemon, for a minute")
	return b.idle(folder)
}
