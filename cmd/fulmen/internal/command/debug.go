package command

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// debugCommand is for those who work on Fulmen, and not in the list of commands.
func (r *run) debugCommand() *cobra.Command {
	var scenario string
	parse := &cobra.Command{
		Use: "parse FILE...", Short: "Print what recordings of the system's tools say, as facts", Args: cobra.MinimumNArgs(1),
		Long: "Reads what system_profiler or networksetup wrote and prints it as Fulmen's facts, JSON; - is standard input.\n" +
			"With --scenario it prints a scenario made of the recordings of two or more Macs. The daemon's program does it, and\n" +
			"its exit status is passed on.",
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
	debug := group("debug", "For those who work on Fulmen", parse, record, r.debugNotifications())
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
