package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"fulmen"
	"fulmen/cmd/internal/bundle/inspect"
	"fulmen/cmd/internal/bundle/steps"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run gives the exit status: 0, 1 where something failed or is lacking, 2 for a
// wrong command line.
func run(args []string, out, diag io.Writer) int {
	flags := flag.NewFlagSet("bundle", flag.ContinueOnError)
	flags.SetOutput(diag)
	dry := flags.Bool("dry", false, "print the commands and run none")
	repository := flags.String("repository", os.Getenv("GITHUB_REPOSITORY"), "`owner/name` of the repository whose releases the cask points to")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	root, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(diag, "bundle:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := &maker{
		paths: steps.Paths{Root: root, Version: fulmen.Version()}, machine: here(), dry: *dry, repository: *repository, now: time.Now(), out: out,
		exec: func(step steps.Step) error { return execute(ctx, step, out, diag) },
	}
	err = m.do(flags.Args())
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintln(diag, "usage: bundle [-dry] app|sign|notarize [FILE...]|dmg|pkg|papers|release|check APP")
		return 2
	case err != nil:
		fmt.Fprintln(diag, "bundle:", err)
		return 1
	}
	return 0
}

var errUsage = errors.New("wrong usage")

// do makes what is asked for.
func (m *maker) do(args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	makes := map[string]func() error{
		"app": m.app, "sign": m.sign, "dmg": m.image, "pkg": m.pack, "papers": m.papers, "release": m.release,
	}[args[0]]
	switch rest := args[1:]; {
	case args[0] == "notarize":
		return m.notarize(rest)
	case args[0] == "check" && len(rest) == 1:
		return check(rest[0], m.out)
	case makes != nil && len(rest) == 0:
		return makes()
	}
	return errUsage
}

// check says what is wrong with an app.
func check(bundle string, out io.Writer) error {
	if faults := inspect.Faults(bundle); len(faults) > 0 {
		return fmt.Errorf("%s:\n  %s", bundle, strings.Join(faults, "\n  "))
	}
	fmt.Fprintln(out, bundle, "has no errors")
	return nil
}

// here is this machine.
func here() steps.Machine {
	return steps.Machine{
		OS: runtime.GOOS, Getenv: os.Getenv,
		Has:   func(program string) bool { _, err := exec.LookPath(program); return err == nil },
		There: func(path string) bool { _, err := os.Stat(path); return err == nil },
	}
}

// execute runs one step to its end.
func execute(ctx context.Context, step steps.Step, out, diag io.Writer) error {
	cmd := exec.CommandContext(ctx, step.Command[0], step.Command[1:]...)
	cmd.Stdout, cmd.Stderr = out, diag
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	return nil
}
