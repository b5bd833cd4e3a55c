package command

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the commands in docs/cli.md anew")

const docs = "../../../../docs/"

// printed are the golden files of package show that docs/cli.md has below a
// command, with what was typed.
var printed = [][2]string{
	{"status", "fulmen status"}, {"nodes", "fulmen nodes"}, {"topology", "fulmen topology"},
	{"links", "fulmen links"}, {"link", "fulmen links mac-studio:1"}, {"links_history", "fulmen links history"},
	{"rdma", "fulmen rdma"}, {"rdma_check", "fulmen rdma check mac-studio:3"}, {"rdma_enable_dry", "fulmen rdma enable --all-ready --dry-run"},
	{"rdma_undo", "fulmen rdma undo --all-ready"}, {"rdma_past", "fulmen rdma history"}, {"audit", "fulmen events --audit"},
	{"models", "fulmen models"}, {"measure", "fulmen measure gpu"}, {"plan", "fulmen plan -n 2 --memory 24GiB -- python train.py"},
	{"plan_none", "fulmen plan -n 2 -- python train.py"}, {"env", "fulmen env"}, {"jobs", "fulmen jobs --all"}, {"job", "fulmen job show j4k2"},
	{"pending", "fulmen pending"}, {"peers", "fulmen peers"}, {"users", "fulmen users"}, {"sharing", "fulmen sharing"}, {"demo", "fulmen demo"},
	{"doctor", "fulmen doctor"}, {"hardware", "fulmen doctor --hardware"}, {"report", "fulmen report"}, {"tokens", "fulmen token list"},
	{"config", "fulmen config show"}, {"example", "fulmen config example"}, {"uninstall", "fulmen uninstall --dry-run"},
}

// TestTheCommandsInTheDocs compares what docs/cli.md says of each command with
// the command's own help.
func TestTheCommandsInTheDocs(t *testing.T) {
	is := is.New(t)
	const begin, end = "<!-- table: commands; written by `go test ./cmd/fulmen/internal/command -update` -->\n", "<!-- end of table -->\n"
	page, err := os.ReadFile(docs + "cli.md")
	is.NoErr(err)
	before, rest, found := strings.Cut(string(page), begin)
	is.True(found)
	written, after, found := strings.Cut(rest, end)
	is.True(found)
	var want strings.Builder
	shown := 0
	describe(t, &want, (&run{}).root(), &shown)
	is.Equal(shown, len(printed))
	if *update {
		is.NoErr(os.WriteFile(docs+"cli.md", []byte(before+begin+want.String()+end+after), 0o644))
	} else if written != want.String() {
		t.Error("docs/cli.md does not say what the commands' help says: go test ./cmd/fulmen/internal/command -update")
	}
}

// describe writes a command and those below it.
func describe(t *testing.T, w io.Writer, c *cobra.Command, shown *int) {
	if c.HasParent() && c.IsAvailableCommand() && c.Name() != "completion" {
		heading := "##"
		if c.Parent().HasParent() {
			heading = "###"
		}
		text := c.Long
		if text == "" {
			text = c.Short + "."
		}
		fmt.Fprintf(w, "\n%s %s\n\n%s\n", heading, strings.TrimPrefix(c.CommandPath(), "fulmen "), escaped(text))
		if c.Runnable() {
			fmt.Fprintf(w, "\n    %s\n", strings.TrimSuffix(c.UseLine(), " [flags]"))
		}
		if c.Example != "" {
			fmt.Fprintf(w, "\n```\n%s\n```\n", strings.TrimRight(regexp.MustCompile(`(?m)^  `).ReplaceAllString(c.Example, ""), "\n"))
		}
		for _, p := range printed {
			if at, _, err := c.Root().Find(strings.Fields(p[1])[1:]); err == nil && at == c {
				*shown++
				text, err := os.ReadFile(filepath.Join("../show/testdata", p[0]+".txt"))
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(w, "\n<!-- printed: %s -->\n```\n$ %s\n%s```\n", p[0], p[1], text)
			}
		}
		first := true
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" || f.Hidden {
				return
			}
			if first {
				fmt.Fprint(w, "\n| flag | |\n| --- | --- |\n")
				first = false
			}
			name := "`--" + f.Name + "`"
			if f.Shorthand != "" {
				name += ", `-" + f.Shorthand + "`"
			}
			fmt.Fprintf(w, "| %s | %s |\n", name, escaped(f.Usage))
		})
	}
	for _, sub := range c.Commands() {
		describe(t, w, sub, shown)
	}
}

// escaped is a text of the help with what Markdown would take for its own.
func escaped(text string) string {
	return strings.NewReplacer("*", `\*`, "|", `\|`, "<", "&lt;").Replace(text)
}

// TestCommandsOfTheDocs wants every command of the command line that a page
// shows to be one that can be typed.
func TestCommandsOfTheDocs(t *testing.T) {
	is := is.New(t)
	pages, err := filepath.Glob(docs + "*.md")
	is.NoErr(err)
	line := regexp.MustCompile("(?m)(?:^(?:    |\\$ )?(?:sudo )?(?:build/bin/)?|`(?:sudo )?)(fulmen [a-z-][^`\\n]*)")
	count := 0
	for _, page := range append(pages, docs+"../README.md") {
		if slices.Contains([]string{"reference.md", "decisions.md"}, filepath.Base(page)) {
			continue
		}
		text, err := os.ReadFile(page)
		is.NoErr(err)
		for _, found := range line.FindAllStringSubmatch(string(text), -1) {
			if err := typed(found[1]); err != nil {
				t.Errorf("%s: %q cannot be typed: %v", filepath.Base(page), found[1], err)
			}
			count++
		}
	}
	is.True(count > 200)
}

// typed says why a command cannot be typed. What follows it on a line of a shell
// is left out.
func typed(text string) error {
	text = regexp.MustCompile(` +(#|\||&&|[0-9]?>|<|;).*`).ReplaceAllString(text, "")
	words := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(text, -1)[1:]
	root := (&run{}).root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	c, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if c == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return fmt.Errorf("there is no command %s", rest[0])
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	if args := c.Flags().Args(); len(args) > 0 { // without any it is the command's name
		return c.ValidateArgs(args)
	}
	return nil
}
