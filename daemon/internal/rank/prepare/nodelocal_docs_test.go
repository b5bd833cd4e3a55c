package prepare

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var update = flag.Bool("update", false, "write the table into docs/programs.md")

const page = "../../../../docs/programs.md"

// TestTheTableInTheDocs compares the table of the page with the code.
func TestTheTableInTheDocs(t *testing.T) {
	is := is.New(t)
	var want strings.Builder
	want.WriteString("<!-- table: nodelocal -->\n| variables | whose | because it |\n| --- | --- | --- |\n")
	rows := nodeLocal()
	for len(rows) > 0 {
		names, row := []string{}, rows[0]
		for len(rows) > 0 && rows[0].rule == row.rule && rows[0].why == row.why {
			names, rows = append(names, "`"+rows[0].name+"`"), rows[1:]
		}
		want.WriteString("| " + strings.Join(names, " ") + " | " + string(row.rule) + " | " + row.why + " |\n")
	}
	text, err := os.ReadFile(page)
	is.NoErr(err)
	before, rest, found := strings.Cut(string(text), "<!-- table: nodelocal -->\n")
	is.True(found)
	_, after, _ := strings.Cut("\n"+rest, "\n\n")
	whole := before + want.String() + "\n" + after
	if *update {
		is.NoErr(os.WriteFile(page, []byte(whole), 0o644))
		return
	}
	if string(text) != whole {
		t.Fatal("the table in docs/programs.md is not the code's; go test -update writes it")
	}
}
