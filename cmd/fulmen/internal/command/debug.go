package command

import (
	"slices"
	"strings"

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
	debug := group("debug", "For those who work on Fulmen", parse)
	debug.Hidden = true
	return debug
}
