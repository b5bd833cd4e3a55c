// The runtime looks every second whether the CPUs have changed; a daemon that
// sleeps for minutes does not need to know.
//
//go:debug updatemaxprocs=0
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"fulmen"
	"fulmen/daemon"
	"fulmen/daemon/api"
)

// version is that of the whole product.
var version = fulmen.Version()

func main() { os.Exit(run(os.Args[1:])) }

// run gives the exit status: 0 after an orderly end, 1 where the daemon could
// not start or failed, 2 for a wrong command line. Without a command it runs the
// daemon.
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
	case "shim", "look": // as a daemon of a version before asks, whose programs were replaced
		return runShim(args)
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

// runPack is the process that reads a folder for another node. People do not call it.
func runPack(args []string) int { return runEnd("pack", daemon.Pack, args) }

// runUnpack is the process that writes a folder from another node. People do not call it.
func runUnpack(args []string) int { return runEnd("unpack", daemon.Unpack, args) }

func runEnd(name string, run func(in io.Reader, out io.Writer) error, args []string) int {
	if len(args) != 0 {
		fmt.Fprintf(os.Stderr, "fulmend %s: it takes no arguments\n", name)
		return api.ExitUsage
	}
	if err := run(os.Stdin, os.Stdout); err != nil {
		explain(os.Stderr, err)
		return api.ExitFailed
	}
	return api.ExitOK
}

// runShim goes on as fulmen-shim, which lies beside this program.
func runShim(args []string) int {
	program, err := os.Executable()
	if err == nil {
		program = filepath.Join(filepath.Dir(program), "fulmen-shim")
		err = &fs.PathError{Op: "execute", Path: program, Err: syscall.Exec(program, append([]string{program}, args...), os.Environ())}
	}
	fmt.Fprintln(os.Stderr, "fulmend:", err)
	return api.ExitFailed
}

// runUninstall lists or removes what Fulmen has left on this machine, for fulmen
// uninstall, which asks before.
func runUninstall(args []string, out io.Writer) int {
	flags := flag.NewFlagSet("fulmend uninstall", flag.ContinueOnError)
	remove := flags.Bool("remove", false, "take it away; without this it is only listed")
	deleteOutput := flags.Bool("delete-output", false, "also what jobs have printed")
	if status := parse(flags, args); status >= 0 {
		return status
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := daemon.Uninstall(ctx, *remove, *deleteOutput, out); err != nil {
		explain(os.Stderr, err)
		return statusOf(err)
	}
	return api.ExitOK
}
