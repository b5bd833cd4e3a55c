package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// debugCommand is for those who work on Fulmen, and not in the list of commands.
func (r *run) debugCommand() *cobra.Command {
	parse := &cobra.Command{
		Use: "parse FILE...", Short: "Print what recordings of the system's tools say, as facts", Args: cobra.MinimumNArgs(1),
		Long: "Reads what system_profiler or networksetup wrote and prints it as Fulmen's facts, JSON; - is standard input.\n" +
			"The daemon's program does it, and its exit status is passed on.",
		Example: "  system_profiler SPThunderboltDataType -json | fulmen debug parse -",
		RunE: func(c *cobra.Command, args []string) error {
			files := slices.Clone(args)
			for i, f := range files {
				if len(f) > 1 && strings.HasPrefix(f, "-") {
					files[i] = "./" + f // it came after --, and is no flag there either
				}
			}
			return r.fulmend(c.Context(), r.Out, append([]string{"debug", "parse"}, files...)...)
		},
	}
	debug := group("debug", "For those who work on Fulmen", parse)
	debug.Hidden = true
	return debug
}
