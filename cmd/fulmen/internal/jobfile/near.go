package jobfile

import (
	"slices"

	"github.com/spf13/cobra"
)

// farthest is how many letters somebody may have got wrong.
const farthest = 2

// near is the name that somebody probably meant; empty where none is near. What is
// near to a word is what the command line takes to be near to a command.
func near(word string, known []string) string {
	names := &cobra.Command{}
	for _, name := range known {
		names.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	for names.SuggestionsMinimumDistance = 1; names.SuggestionsMinimumDistance <= farthest; names.SuggestionsMinimumDistance++ {
		found := names.SuggestionsFor(word)
		if several := word + "s"; slices.Contains(found, several) {
			return several // of several that are as near
		}
		if len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
