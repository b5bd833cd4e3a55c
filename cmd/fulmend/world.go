package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"fulmen/daemon"
	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/remote"
	"fulmen/native/sim/scenario"
)

// worldReady is the one line that fulmend world prints, when daemons can join.
type worldReady struct {
	Scenario string   `json:"scenario"`
	Socket   string   `json:"socket"`
	Macs     []string `json:"macs"`
}

// runWorld hosts a simulated cluster for several daemons until a signal ends it,
// or, where that is asked for, the end of standard input: then no world outlives
// the program that started it.
func runWorld(args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("fulmend world", flag.ContinueOnError)
	name := flags.String("scenario", "", "a scenario's name, or a .toml file")
	socket := flags.String("socket", "", "path of the Unix socket at which daemons join")
	withStdin := flags.Bool("with-stdin", false, "exit when standard input ends")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *name == "" || *socket == "" {
		return wrongUsage("world needs --scenario and --socket")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *withStdin {
		ctx = untilEnd(ctx, in)
	}
	plan, err := scenario.Load(*name)
	if err != nil {
		return wrongUsage(err.Error())
	}
	return hostWorld(ctx, plan, *socket, out)
}

// untilEnd is a context that also ends when a reader does.
func untilEnd(ctx context.Context, in io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return ctx
}

// hostWorld makes the world, says so, and lets its time line run.
func hostWorld(ctx context.Context, plan scenario.Scenario, socket string, out io.Writer) (err error) {
	clock, err := native.SystemClock()
	if err != nil {
		return err
	}
	world, err := sim.New(plan, clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.Close()) }()
	listener, err := listenWorld(ctx, socket)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	served := make(chan error, 1)
	go func() {
		err := remote.Serve(ctx, listener, world)
		cancel(err)
		served <- err
	}()
	if err := json.NewEncoder(out).Encode(worldReady{Scenario: world.Name(), Socket: socket, Macs: world.Macs()}); err != nil {
		cancel(err)
		return errors.Join(err, <-served)
	}
	if err := world.Play(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "fulmend world: the scenario's time line ended early:", err)
	}
	return <-served
}

// listenWorld opens a socket that this account alone can use. One that was left
// behind is replaced; one at which somebody answers is not.
func listenWorld(ctx context.Context, socket string) (net.Listener, error) {
	var d net.Dialer
	if conn, err := d.DialContext(ctx, "unix", socket); err == nil {
		_ = conn.Close()
		return nil, fmt.Errorf("another simulated world already listens at %s", socket)
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		if info, err := os.Lstat(socket); err == nil && info.Mode().Type() == os.ModeSocket {
			_ = os.Remove(socket) // if it stays, listening says so
		}
	}
	old := syscall.Umask(0o177) // nothing else of this process makes a file now
	defer syscall.Umask(old)
	var c net.ListenConfig
	return c.Listen(ctx, "unix", socket)
}

// openSimulation takes a Mac of a world of its own, or of one that is shared.
func openSimulation(ctx context.Context, text, world string) (*daemon.Simulation, error) {
	if world == "" {
		return daemon.OpenSimulation(text)
	}
	return daemon.JoinSimulation(ctx, text, world)
}
