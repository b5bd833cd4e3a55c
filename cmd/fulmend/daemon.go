package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/native/activation"
)

// runDaemon runs the daemon until a signal ends it.
func runDaemon(args []string) error {
	flags := flag.NewFlagSet("fulmend", flag.ContinueOnError)
	worker := flags.String("worker", "", "path of fulmen-rank (default: the one beside fulmend)")
	simulate := flags.String("simulate", "", "run on a simulated Mac: `SCENARIO[:MAC]`, a scenario's name or a .toml file, and one of its Macs")
	world := flags.String("world", "", "with --simulate: the Unix `socket` of the world that several daemons share")
	rehearse := flags.String("rehearse", "", "with --simulate: the `program` that takes the place of MLX's worker in tests over RDMA")
	withStdin := flags.Bool("with-stdin", false, "exit when standard input ends")
	quiet := flags.Bool("quiet", false, "write the log to its file only")
	show := flags.Bool("version", false, "print the version and exit")
	if err := parse(flags, args); err != nil {
		return err
	}
	if *show {
		_, err := fmt.Println("fulmend", version)
		return err
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
		return wrongUsage("--world needs --simulate SCENARIO:MAC")
	}
	if *simulate != "" {
		simulation, err := openSimulation(ctx, *simulate, *world)
		if err != nil {
			return err
		}
		simulation.Rehearse = *rehearse
		options.Simulation = simulation
	}
	sockets, err := activation.Take(api.ActivationUnix, api.ActivationTCP)
	if err != nil {
		return err
	}
	options.Sockets = sockets
	if options.Supervisor, err = activation.TakeSupervisor(); err != nil {
		return err
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
	return err
}

// startAgain begins anew with the program that is on the disk now. launchd and
// systemd, which keep it, start it when this process ends with api.ExitRestart; who comes
// meanwhile waits. Elsewhere this process becomes the new one, and keeps
// its number, its parent and its terminal.
func startAgain(isKept bool) error {
	if isKept {
		return errRestart
	}
	// The name by which it was called: a link in it may lead to another version now.
	program, err := exec.LookPath(os.Args[0])
	if err != nil {
		program, err = os.Executable()
	}
	if err == nil {
		err = syscall.Exec(program, os.Args, os.Environ())
	}
	return err
}

// threads is how many run Go code at once. Measured in clusters of 4 and 16, a
// second one costs a third more wake-ups when idle, and no client has to wait
// long for one: what takes time happens in other processes.
const threads = 1

// tuneRuntime makes the runtime small for a program that waits most of the time: each
// event that is handed from one thread to another is a wake-up more. The environment
// of the process says otherwise where it says anything.
func tuneRuntime() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(threads, runtime.NumCPU()))
	}
}
