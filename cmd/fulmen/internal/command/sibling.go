package command

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"fulmen/daemon/api"
)

// siblingGrace is how long the daemon's program may take to end after Ctrl-C.
const siblingGrace = 5 * time.Second

// fulmend runs the daemon's program, with its words on standard error as they
// are. It knows what this one leaves to it: hardware, scenarios, recordings.
func (r *run) fulmend(ctx context.Context, out io.Writer, args ...string) error {
	path, err := r.siblingPath("fulmend")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.In, out, r.Err
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = siblingGrace
	err = cmd.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		if status := ended.ExitCode(); status > 0 {
			return exited{status}
		}
		return exited{api.ExitFailed} // a signal ended it
	}
	if err != nil {
		return advised(api.Errorf(api.ReasonInternal, path, "%s could not be run.", path), "Install fulmen and fulmend from the same release.")
	}
	return nil
}

// siblingPath finds another program of Fulmen: beside this one, also where this
// one is a link, else on PATH.
func (r *run) siblingPath(name string) (string, error) {
	var places []string
	if r.Executable != "" {
		places = append(places, filepath.Dir(r.Executable))
		if target, err := filepath.EvalSymlinks(r.Executable); err == nil {
			places = append(places, filepath.Dir(target))
		}
	}
	for _, dir := range places {
		path := filepath.Join(dir, name)
		if status, err := os.Stat(path); err == nil && status.Mode().IsRegular() && status.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", advised(api.Errorf(api.ReasonProgramMissing, name, "The daemon's program, %s, is neither beside fulmen nor on PATH.", name),
		"Install fulmen and fulmend in one folder, or put the folder of fulmend on PATH.")
}

// debugCommand is for those who work on Fulmen, and not in the list of commands.
func (r *run) debugCommand() *cobra.Command {
	var scenario string
	parse := &cobra.Command{
		Use: "parse FILE...", Short: "Print what recordings of the system's tools say, as facts", Args: cobra.MinimumNArgs(1),
		Long: "Reads what system_profiler or networksetup wrote and prints it as Fulmen's facts, JSON; - is standard input.\n" +
			"With --scenario it prints a scenario made of the recordings of two or more Macs. The daemon's program does it, and\n" +
			"its exit code is passed on.",
		Example: "  system_profiler SPThunderboltDataType -json | fulmen debug parse -\n" +
			"  fulmen debug parse --scenario desk a.json b.json > desk.toml",
		RunE: func(c *cobra.Command, args []string) error {
			files := slices.Clone(args)
			for i, f := range files {
				if len(f) > 1 && strings.HasPrefix(f, "-") {
					files[i] = "./" + f // it came after --, and is no flag there either
				}
			}
			command := []string{"debug", "parse"}
			if scenario != "" {
				command = append(command, "--scenario="+scenario)
			}
			return r.fulmend(c.Context(), r.Out, append(command, files...)...)
		},
	}
	parse.Flags().StringVar(&scenario, "scenario", "", "print a scenario of this name, made of recordings of two or more Macs")
	record := &cobra.Command{
		Use: "record", Short: "Print what this Mac says of itself, for tests", Args: cobra.NoArgs,
		Long: "Prints the Thunderbolt registry, the network's configuration and the RDMA devices of this Mac as JSON, for tests that\n" +
			"run where there is no Mac. Names, addresses and identifiers are replaced by numbered ones. Nothing is changed.",
		Example: "  fulmen debug record > my-mac.json",
		RunE: func(c *cobra.Command, _ []string) error {
			return r.fulmend(c.Context(), r.Out, "debug", "record")
		},
	}
	debug := group("debug", "For people who work on Fulmen itself", parse, record, r.debugNotifications())
	debug.Hidden = true
	return debug
}

func (r *run) debugNotifications() *cobra.Command {
	var limit time.Duration
	c := &cobra.Command{
		Use: "notifications", Short: "Print each notification of macOS as it comes", Args: cobra.NoArgs,
		Long: "Prints a line for each callback of IOKit, SystemConfiguration and power management, with its time since the\n" +
			"beginning, until it is interrupted. Plug cables meanwhile: docs/macos-checklist.md says which.",
		Example: "  fulmen debug notifications\n  fulmen debug notifications --for 5m > notifications.txt",
		RunE: func(c *cobra.Command, _ []string) error {
			command := []string{"debug", "notifications"}
			if limit > 0 {
				command = append(command, "--for="+limit.String())
			}
			return r.fulmend(c.Context(), r.Out, command...)
		},
	}
	c.Flags().DurationVar(&limit, "for", 0, "end after this time, such as 5m; without it, at an interrupt")
	return c
}
