package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"fulmen/daemon"
	"fulmen/daemon/api"
)

// version is set by the build.
var version = "0.1.0-dev"

func main() { os.Exit(run(os.Args[1:])) }

// run gives the exit status: 0 after an orderly end, 1 where the daemon could
// not start or failed, 2 for a wrong command line.
func run(args []string) int {
	flags := flag.NewFlagSet("fulmend", flag.ContinueOnError)
	worker := flags.String("worker", "", "path of fulmen-rank; beside fulmend where not given")
	quiet := flags.Bool("quiet", false, "write the log to its file only")
	show := flags.Bool("version", false, "print the version and end")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(os.Stderr, "fulmend: %q: fulmend takes flags only; fulmend -h lists them\n", flags.Arg(0))
		return 2
	case *show:
		fmt.Println("fulmend", version)
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	options := daemon.Options{Version: version, Worker: *worker}
	if !*quiet {
		options.Log = os.Stderr
	}
	if err := daemon.Run(ctx, options); err != nil {
		fmt.Fprintln(os.Stderr, "fulmend:", err)
		var known *api.Error
		if errors.As(err, &known) && known.Data.Remedy != "" {
			fmt.Fprintln(os.Stderr, " ", known.Data.Remedy)
		}
		return 1
	}
	return 0
}
