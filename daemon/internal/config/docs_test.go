package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var update = flag.Bool("update", false, "write docs/configuration.md and the golden files again")

// table is the part of the documentation that is made from the fields.
func table() string {
	var b strings.Builder
	last := ""
	for _, f := range Fields() {
		key := f.Key
		if t := f.Table(); t != last {
			last = t
			fmt.Fprintf(&b, "\n### %s\n\n| key | type | default | range | takes effect | what it does |\n| --- | --- | --- | --- | --- | --- |\n", t)
		} else if t == levelsTable {
			continue
		}
		doc := f.Doc
		if f.Table() == levelsTable {
			key = levelsTable + ".PART"
			doc += " PART is one of " + strings.Join(Packages(), ", ") + "."
		}
		effect := "at once"
		if f.Restart {
			effect = "after a restart"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s | %s | %s |\n", key, f.Type, f.Default(), f.Range, effect, doc)
	}
	return b.String()
}

func TestDocumentation(t *testing.T) {
	is := is.New(t)
	const begin, end = "<!-- keys: made from daemon/internal/config by go test -update -->\n", "\n<!-- end of keys -->\n"
	path := filepath.Join("..", "..", "..", "docs", "configuration.md")
	text, err := os.ReadFile(path)
	is.NoErr(err)
	before, rest, ok := strings.Cut(string(text), begin)
	is.True(ok)
	_, after, ok := strings.Cut(rest, end)
	is.True(ok)
	want := before + begin + table() + end + after
	if *update {
		is.NoErr(os.WriteFile(path, []byte(want), 0o644))
		return
	}
	is.True(string(text) == want) // docs/configuration.md is stale: go test ./daemon/internal/config -update
}

func TestExample(t *testing.T) {
	is := is.New(t)
	path := filepath.Join("testdata", "example.toml")
	if *update {
		is.NoErr(os.WriteFile(path, []byte(example()), 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(example(), string(want))
	for line := range strings.Lines(example()) {
		is.True(len(line) <= exampleWidth+1)
	}
}

// TestPackages wants every part of the daemon to be able to have a level.
func TestPackages(t *testing.T) {
	is := is.New(t)
	is.True(slices.IsSorted(Packages()))
	entries, err := os.ReadDir("..")
	is.NoErr(err)
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(Packages(), e.Name()) {
			t.Errorf("daemon/internal/%s is missing in Packages", e.Name())
		}
	}
}

// exampleWidth is where lines of comments end.
const exampleWidth = 100

// example is a configuration with every key as a comment, its default, what it
// does, and when a change takes effect. It changes nothing by itself.
func example() string {
	var b strings.Builder
	b.WriteString("# Configuration of Fulmen. Every key is shown with its default; take away the # in front of one to\n" +
		"# change it. The daemon notices when the file is saved, and keeps what it had if there is an error.\n")
	table := ""
	for _, f := range Fields() {
		if t := f.Table(); t != table {
			table = t
			fmt.Fprintf(&b, "\n[%s]\n", table)
			if t == levelsTable {
				comment(&b, "A level for one part of the daemon: "+strings.Join(Packages(), ", ")+".")
				fmt.Fprintf(&b, "# %s = \"debug\"\n", Packages()[0])
			}
		}
		if table == levelsTable {
			continue
		}
		comment(&b, f.Doc)
		note := capital(f.Type) + ", " + f.Range + "."
		if f.Restart {
			note += " Takes effect after a restart."
		}
		comment(&b, note)
		fmt.Fprintf(&b, "# %s = %s\n", f.Name(), f.Default())
	}
	return b.String()
}

// levelsTable has a key for each package, which are shown together.
const levelsTable = "log.levels"

// comment writes a text as comments of no more than exampleWidth bytes, if its words allow.
func comment(b *strings.Builder, s string) {
	line := "#"
	for word := range strings.FieldsSeq(s) {
		if len(line)+1+len(word) > exampleWidth && line != "#" {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// Name is the part of the key after the last dot.
func (f Field) Name() string { return f.Key[len(f.Table())+1:] }
