package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/spf13/cobra"

	"fulmen/daemon/api"
)

// TestEveryCommandIsExplained wants examples in the help of every command that
// does something, and a place in docs/cli.md for it.
func TestEveryCommandIsExplained(t *testing.T) {
	is := is.New(t)
	docs, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "cli.md"))
	is.NoErr(err)
	r := &run{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" || !c.HasSubCommands() && c.Example == "" {
			t.Errorf("%s: its help has no example", c.CommandPath())
		}
		if !regexp.MustCompile(`(?m)(^## |[ ,]|` + "`" + `)` + c.Name() + `\b`).Match(docs) {
			t.Errorf("%s is not in docs/cli.md", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(r.root())
}

// What the table of reasons offers to be typed is a command that only looks.
func TestTheCommandsOfReasonsAreThere(t *testing.T) {
	root := (&run{}).root()
	for _, info := range api.Reasons() {
		if info.Command == "" {
			continue
		}
		c, rest, err := root.Find(strings.Fields(info.Command)[1:])
		if err != nil || len(rest) > 0 || c == root || c.Args != nil && c.Args(c, nil) != nil {
			t.Errorf("%s: %q cannot be typed: %v", info.Reason, info.Command, err)
		}
	}
}
