package text

import (
	"io"
	"strings"
	"unicode"
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

// Write writes the table; nothing follows the last cell of a row.
func (t *Table) Write(w io.Writer) error {
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
	_, err := io.WriteString(w, b.String())
	return err
}

// Width is how many columns of a terminal a text takes: marks over a letter
// take none, East Asian letters and pictures two.
func Width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case wide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// wide names the blocks that terminals draw over two columns (Unicode's East
// Asian Width W and F, by block).
func wide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf && r != 0x303f || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 ||
		r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1f64f || r >= 0x1f900 && r <= 0x1f9ff || r >= 0x20000 && r <= 0x3fffd
}
