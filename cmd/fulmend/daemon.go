package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"fulmen/daemon"
	"fulmen/daemon/api"
)

// runDaemon runs the daemon until a signal ends it.
func runDaemon(args []string) int {
	flags := flag.NewFlagSet("fulmend", flag.ContinueOnError)
	worker := flags.String("worker", "", "path of fulmen-rank; beside fulmend where not given")
	simulate := flags.String("simulate", "", "run on a simulated Mac: `SCENARIO[:MAC]`, a scenario's name or a .toml file, and one of its Macs")
	world := flags.String("world", "", "with --simulate: the Unix `socket` of the world that several daemons share")
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
	thrift()
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
		options.Simulation = simulation
	}
	err := daemon.Run(ctx, options)
	for errors.Is(err, daemon.ErrRestart) && ctx.Err() == nil {
		options.WasRemoved = true
		err = daemon.Run(ctx, options)
	}
	if options.Simulation != nil {
		err = errors.Join(err, options.Simulation.World.Close())
	}
	if err != nil {
		explain(os.Stderr, err)
		return statusOf(err)
	}
	return api.ExitOK
}

// thrift makes the runtime small for a program that waits most of the time: each
// event that is handed from one thread to another is a wake-up more, and garbage
// is little. The environment of the process says otherwise where it says anything.
func thrift() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(min(threads, runtime.NumCPU()))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

const (
	// threads is how many run Go code at once. Measured in clusters of 4 and 16, a
	// second one costs a third more wake-ups when idle, and no client has to wait
	// long for one: what takes time happens in other processes.
	threads = 1
	// gcPercent trades little time for the memory of a large cluster.
	gcPercent = 50
)
