package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/native/activation"
)

// runDaemon runs the daemon until a signal ends it.
func runDaemon(args []string) int {
	flags := flag.NewFlagSet("fulmend", flag.ContinueOnError)
	worker := flags.String("worker", "", "path of fulmen-rank; beside fulmend where not given")
	simulate := flags.String("simulate", "", "run on a simulated Mac: `SCENARIO[:MAC]`, a scenario's name or a .toml file, and one of its Macs")
	world := flags.String("world", "", "with --simulate: the Unix `socket` of the world that several daemons share")
	rehearse := flags.String("rehearse", "", "with --simulate: the `program` that takes the place of MLX's worker in tests over RDMA")
	withStdin := flags.Bool("with-stdin", false, "end when standard input does")
	quiet := flags.Bool("quiet", false, "write the log to its file only")
	show := flags.Bool("version", false, "print the version and end")
	if status := parse(flags, args); status >= 0 {
		return status
	}
	if *show {
		fmt.Println("fulmend", version)
		return api.ExitOK
	}
	tuneRuntime()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if *withStdin {
		ctx = untilEnd(ctx, os.Stdin)
	}
	options := daemon.Options{Version: version, Worker: *worker}
	if !*quiet {
		options.Log = os.Stderr
	}
	if *world != "" && *simulate == "" {
		fmt.Fprintln(os.Stderr, "fulmend: --world needs --simulate SCENARIO:MAC")
		return api.ExitUsage
	}
	if *simulate != "" {
		simulation, err := openSimulation(ctx, *simulate, *world)
		if err != nil {
			explain(os.Stderr, err)
			return statusOf(err)
		}
		simulation.Rehearse = *rehearse
		options.Simulation = simulation
	}
	sockets, err := activation.Take(api.ActivationUnix, api.ActivationTCP)
	if err != nil {
		explain(os.Stderr, err)
		return api.ExitFailed
	}
	options.Sockets = sockets
	if options.Supervisor, err = activation.TakeSupervisor(); err != nil {
		explain(os.Stderr, err)
		return api.ExitFailed
	}
	err = daemon.Run(ctx, options)
	for errors.Is(err, daemon.ErrRestart) && ctx.Err() == nil {
		options.WasRemoved = !errors.Is(err, daemon.ErrDamaged)
		err = daemon.Run(ctx, options)
	}
	if options.Simulation != nil {
		err = errors.Join(err, options.Simulation.World.Close())
	}
	if errors.Is(err, daemon.ErrRestartProgram) {
		return startAgain(sockets.Len() > 0 || options.Supervisor != nil)
	}
	if err != nil {
		explain(os.Stderr, err)
		return statusOf(err)
	}
	return api.ExitOK
}

// startAgain begins anew with the program that is on the disk now. launchd and
// systemd, which keep it, start it when this process ends with ExitRestart; who comes
// meanwhile waits. Elsewhere this process becomes the new one, and keeps
// its number, its parent and its terminal.
func startAgain(isKept bool) int {
	if isKept {
		return api.ExitRestart
	}
	// The name by which it was called: a link in it may lead to another version now.
	program, err := exec.LookPath(os.Args[0])
	if err != nil {
		program, err = os.Executable()
	}
	if err == nil {
		err = syscall.Exec(program, os.Args, os.Environ())
	}
	explain(os.Stderr, err)
	return api.ExitFailed
}
