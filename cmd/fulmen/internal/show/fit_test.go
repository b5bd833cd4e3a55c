package show

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/app/text"
	"fulmen/daemon/api"
)

// narrowScreens are some of the screens on a terminal of 80 columns and on one of 60.
func narrowScreens(all map[string]func(*Page)) map[string]func(*Page) {
	out := map[string]func(*Page){}
	for _, name := range []string{"links", "nodes_states", "topology", "jobs", "peers", "models", "rdma", "top"} {
		for _, columns := range []int{60, 80} {
			out[fmt.Sprintf("%s_%d", name, columns)] = func(w *Page) {
				w.Screen.Columns = columns
				all[name](w)
			}
		}
	}
	return out
}

// Every screen fits a terminal of 80 columns, and nearly every one one of 60, but for words
// that are longer than half of it.
func TestScreensFit(t *testing.T) {
	tooWide := []string{"topology", "topology_60", "uninstall", "uninstall_offline", "code", "config_wrong"} // at 60: trees, paths, large letters
	for name, write := range screens(t) {
		for _, columns := range []int{60, 80} {
			if strings.HasSuffix(name, "_wide") || name == "topology_strange" || columns == 60 && slices.Contains(tooWide, name) {
				continue // with --wide nothing is fitted
			}
			page := &Page{Screen: text.Screen{Columns: columns}}
			write(page)
			if page.Screen.Columns != columns {
				continue
			}
			for line := range strings.Lines(page.String()) {
				longest := 0
				for word := range strings.FieldsSeq(line) {
					longest = max(longest, text.Width(word))
				}
				if line = strings.TrimSuffix(line, "\n"); text.Width(line) > columns && longest < columns/2 {
					t.Errorf("%s on %d columns: %q", name, columns, line)
				}
			}
		}
	}
}

// What says how something is has its color, and nothing else.
func TestStyle(t *testing.T) {
	is := is.New(t)
	for _, one := range []struct {
		heading, cell string
		want          text.Style
	}{
		{"STATE", "alive", text.Green}, {"STATE (SIMULATED)", "alive", text.Green}, {"STATE", "alive SIMULATED", text.Green},
		{"STATE", "unreachable 2 min: It does not answer", text.Red}, {"STATE", "running 3 of 4", text.Green},
		{"VERDICT", "slow: The cable", text.Yellow}, {"VERDICT", "slowly", text.Plain}, {"VERDICT", "down; Wi-Fi", text.Red},
		{"RDMA", "needs a person", text.Yellow}, {"NAME", "alive", text.Plain}, {"NAME", "failed", text.Plain},
		{"", "warning", text.Yellow}, {"", "wrong", text.Red}, {"", "warning light", text.Plain}, {"STATE", "", text.Plain},
	} {
		is.Equal(Style(one.heading, one.cell), one.want) // of a cell below a heading
	}
	page := &Page{Screen: text.Screen{Style: Style}}
	View{Now: now()}.Conditions(page, []api.NodeCondition{{Condition: api.Condition{Severity: api.SeverityWarning, Text: "It is warm."}}}, nil)
	is.Equal(page.String(), "One thing to know:\n  \x1b[33mwarning\x1b[0m  It is warm.\n")
	table := text.NewTable("NAME", "STATE")
	table.Row("a", "failed")
	is.Equal(table.Draw(text.Screen{Style: Style}), "\x1b[1mNAME\x1b[0m  \x1b[1mSTATE\x1b[0m\na     \x1b[31mfailed\x1b[0m\n")
}
