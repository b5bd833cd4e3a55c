// The runtime looks every second whether the CPUs have changed; a daemon that
// sleeps for minutes does not need to know.
//
//go:debug updatemaxprocs=0
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"fulmen"
	"fulmen/daemon/api"
	_ "fulmen/daemon/early" // fulmend shim and fulmend look
)

// version is that of the whole product.
var version = fulmen.Version()

func main() { os.Exit(run(os.Args[1:])) }

// run gives the exit status: 0 after an orderly end, 1 where the daemon could
// not start or failed, 2 for a wrong command line. Without a command it runs the
// daemon. The commands shim and look never come here: package early is all of them.
func run(args []string) int {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "run":
		return runDaemon(args[1:])
	case "debug":
		return runDebug(args[1:], os.Stdin, os.Stdout, os.Stderr)
	case "world":
		return runWorld(args[1:], os.Stdin, os.Stdout)
	case "pack":
		return runPack(args[1:])
	case "unpack":
		return runUnpack(args[1:])
	case "uninstall":
		return runUninstall(args[1:], os.Stdout)
	case "verbs": // a child of the daemon, which asks the RDMA library for it
		return runVerbs(os.Stdout, os.Stderr)
	case "topology":
		return runTopology(args[1:], os.Stdout)
	}
	return runDaemon(args)
}

// parse reads the flags of a command that takes nothing else. It gives the exit
// status where the command is over by that, else -1.
func parse(flags *flag.FlagSet, args []string) int {
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return api.ExitOK
	case err != nil:
		return api.ExitUsage
	case flags.NArg() > 0:
		fmt.Fprintf(os.Stderr, "%s: %q: it takes flags only; %s -h lists them\n", flags.Name(), flags.Arg(0), flags.Name())
		return api.ExitUsage
	}
	return -1
}

// explain writes an error for a person, with what to do where that is known.
func explain(w io.Writer, err error) {
	known, ok := errors.AsType[*api.Error](err)
	if !ok || known != err {
		fmt.Fprintln(w, "fulmend:", err) // its text has the remedy
		return
	}
	fmt.Fprintln(w, "fulmend:", known.Message)
	if known.Data.Remedy != "" {
		fmt.Fprintln(w, " ", known.Data.Remedy)
	}
	for _, cause := range known.Data.Causes {
		fmt.Fprintln(w, " ", cause.Message)
	}
}

// statusOf is the exit status of an error: a value that a person gave and that
// makes no sense is a wrong command line.
func statusOf(err error) int {
	if errors.Is(err, api.ReasonBadValue) {
		return api.ExitUsage
	}
	return api.ExitFailed
}
