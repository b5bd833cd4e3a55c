package config

import (
	"fmt"
	"strings"
)

// exampleWidth is where lines of comments end.
const exampleWidth = 100

// Example is a configuration with every key as a comment, its default, what it
// does, and when a change takes effect. It changes nothing by itself.
func Example() string {
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
