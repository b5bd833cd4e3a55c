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
	const begin, end = "<!-- table: nodelocal; written by `go test ./daemon/internal/rank/prepare -update` -->\n", "<!-- end of table -->\n"
	want.WriteString(begin + "| variables | whose | because it |\n| --- | --- | --- |\n")
	for _, row := range nodeLocal() {
		names := "`" + strings.Join(strings.Fields(row.names), "` `") + "`"
		want.WriteString("| " + names + " | " + string(row.rule) + " | " + row.why + " |\n")
	}
	text, err := os.ReadFile(page)
	is.NoErr(err)
	before, rest, found := strings.Cut(string(text), begin)
	is.True(found)
	_, after, found := strings.Cut(rest, end)
	is.True(found)
	whole := before + want.String() + end + after
	if *update {
		is.NoErr(os.WriteFile(page, []byte(whole), 0o644))
		return
	}
	if string(text) != whole {
		t.Fatal("the table in docs/programs.md is not the code's; go test -update writes it")
	}
}
