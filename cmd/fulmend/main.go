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
	"strings"
	"syscall"
	"unicode"

	"fulmen"
	"fulmen/daemon"
	"fulmen/daemon/api"
	"fulmen/native/darwin"
)

// version is the version of the whole product.
var version = fulmen.Version()

func main() { os.Exit(run(os.Args[1:])) }

// run gives the exit status: 0 after an orderly end, 1 where the daemon could
// not start or failed, 2 for a wrong command line. Without a command it runs the
// daemon.
func run(args []string) int { return ended(command(args), os.Stderr) }

func command(args []string) error {
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	switch name {
	case "run":
		return runDaemon(args[1:])
	case "debug":
		return runDebug(args[1:], os.Stdin, os.Stdout, os.Stderr)
	case "world":
		return runWorld(args[1:], os.Stdin, os.Stdout)
	case "pack": // the process that reads a folder for another node; people do not call it
		return runEnd(daemon.Pack, args)
	case "unpack": // the process that writes a folder from another node; people do not call it
		return runEnd(daemon.Unpack, args)
	case "models": // the process that reads an account's models; people do not call it
		return runEnd(daemon.ReadModels, args)
	case "models-send": // the process that reads a model for another node; people do not call it
		return runEnd(daemon.SendModel, args)
	case "models-receive": // the process that writes a model from another node; people do not call it
		return runEnd(daemon.ReceiveModel, args)
	case "models-get": // the process that gets a model from Hugging Face; people do not call it
		return runEnd(daemon.GetModel, args)
	case "install":
		return runInstall(args[1:], os.Stdout)
	case "uninstall":
		return runUninstall(args[1:], os.Stdout)
	case "verbs": // a child of the daemon, which asks the RDMA library and is ended where that does not answer
		return darwin.AnswerVerbs(os.Stdout)
	case "shim", "look": // as a daemon of a version before asks, whose programs were replaced
		return runShim(args)
	case "topology":
		return runTopology(args[1:], os.Stdout)
	}
	return runDaemon(args)
}

// wrongUsage is a command line that makes no sense; empty where that was said.
type wrongUsage string

func (u wrongUsage) Error() string { return string(u) }

// errRestart has whoever keeps the daemon start it again.
var errRestart = errors.New("start the daemon again")

// ended says how a command failed, and gives the exit status. A value that a person
// gave and that makes no sense is a wrong command line.
func ended(err error, complaints io.Writer) int {
	wrong, isUsage := errors.AsType[wrongUsage](err)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return api.ExitOK
	case errors.Is(err, errRestart):
		return api.ExitRestart
	case isUsage && wrong == "":
		return api.ExitUsage
	}
	explain(complaints, err)
	if isUsage || errors.Is(err, api.ReasonBadValue) {
		return api.ExitUsage
	}
	return api.ExitFailed
}

// parse reads the flags of a command that takes nothing else.
func parse(flags *flag.FlagSet, args []string) error {
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return wrongUsage("")
	case flags.NArg() > 0:
		return wrongUsage(fmt.Sprintf("%q: %s takes flags only; %[2]s -h lists them", flags.Arg(0), flags.Name()))
	}
	return nil
}

// explain writes an error for a person, with what to do where that is known.
func explain(w io.Writer, err error) {
	text := err.Error() // has the remedy
	if known, ok := errors.AsType[*api.Error](err); ok && known == err {
		text = known.Message
		if known.Data.Remedy != "" {
			text += "\n" + known.Data.Remedy
		}
		for _, cause := range known.Data.Causes {
			text += "\n" + cause.Message
		}
	}
	complain(w, text)
}

// complain writes for a person. What others wrote into a recording does not get
// to steer the terminal.
func complain(w io.Writer, text string) {
	printable := strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
	fmt.Fprintln(w, "fulmend:", strings.ReplaceAll(printable, "\n", "\n  "))
}

func runEnd(run func(in io.Reader, out io.Writer) error, args []string) error {
	if len(args) != 1 {
		return wrongUsage(args[0] + " takes no arguments")
	}
	return run(os.Stdin, os.Stdout)
}

// runShim goes on as fulmen-shim, which lies beside this program.
func runShim(args []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	program = filepath.Join(filepath.Dir(program), "fulmen-shim")
	return &fs.PathError{Op: "execute", Path: program, Err: syscall.Exec(program, append([]string{program}, args...), os.Environ())}
}

// runInstall has the system start the daemon, for fulmen install.
func runInstall(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fulmend install", flag.ContinueOnError)
	system := flags.Bool("system", false, "for the whole machine, as root is without it")
	write := flags.Bool("write", false, "do it; without this flag it is only listed")
	if err := parse(flags, args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return daemon.Install(ctx, *system, *write, out)
}

// runUninstall lists or removes what Fulmen has left on this machine, for fulmen
// uninstall, which asks before.
func runUninstall(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fulmend uninstall", flag.ContinueOnError)
	remove := flags.Bool("remove", false, "remove it; without this flag it is only listed")
	deleteOutput := flags.Bool("delete-output", false, "also delete the output of jobs")
	if err := parse(flags, args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return daemon.Uninstall(ctx, *remove, *deleteOutput, out)
}
