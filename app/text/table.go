package text

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// Table is columns under a heading, aligned to the left, two spaces apart.
type Table struct {
	rows []row
}

// row is the cells of a line, or a line that spans all columns.
type row struct {
	cells []string
	spans bool
}

// NewTable makes a table with a heading; without one it has none.
func NewTable(heading ...string) *Table {
	t := &Table{}
	if len(heading) > 0 {
		t.rows = append(t.rows, row{cells: heading})
	}
	return t
}

// Row adds a row. Its cells are made harmless.
func (t *Table) Row(cells ...string) {
	clean := make([]string, len(cells))
	for i, c := range cells {
		clean[i] = Clean(c)
	}
	t.rows = append(t.rows, row{cells: clean})
}

// Span adds a line across all columns, made harmless; it does not widen them.
func (t *Table) Span(line string) {
	t.rows = append(t.rows, row{cells: []string{Clean(line)}, spans: true})
}

// String is the table as lines; nothing follows the last cell of a row.
func (t *Table) String() string {
	var widths []int
	for _, r := range t.rows {
		if r.spans {
			continue
		}
		for i, c := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(c))
		}
	}
	var b strings.Builder
	for _, r := range t.rows {
		line := ""
		for i, c := range r.cells {
			if line += c; !r.spans {
				line += strings.Repeat(" ", widths[i]-Width(c)+2)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Width is how many columns of a terminal a text takes: marks over a letter
// take none, East Asian letters and pictures two. The language of the terminal does
// not matter.
func Width(s string) int { return (&runewidth.Condition{}).StringWidth(s) }
