package text

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// None stands in a cell for what is not there.
const None = "-"

// Table is columns under a heading, aligned to the left, two spaces apart.
type Table struct {
	rows    []row
	hasHead bool
	less    []string
}

// row is the cells of a line, or a line that spans all columns.
type row struct {
	cells []string
	spans bool
	mark  mark
}

// mark is a word behind a cell of a row.
type mark struct{ column, word string }

// NewTable makes a table with a heading; without one it has none.
func NewTable(heading ...string) *Table {
	t := &Table{hasHead: len(heading) > 0}
	if t.hasHead {
		t.rows = append(t.rows, row{cells: heading})
	}
	return t
}

// Less names the columns that a screen that is too narrow is spared, the first one first.
func (t *Table) Less(columns ...string) *Table {
	t.less = columns
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

// Mark puts a word behind the latest row's cell of a column. Where all rows have it, it
// stands once, behind the heading of the column.
func (t *Table) Mark(column, word string) { t.rows[len(t.rows)-1].mark = mark{column, word} }

// Span adds a line across all columns, made harmless; it does not widen them.
func (t *Table) Span(line string) {
	t.rows = append(t.rows, row{cells: []string{Clean(line)}, spans: true})
}

// String is the table as lines; nothing follows the last cell of a row.
func (t *Table) String() string { return t.Draw(Screen{}) }

// Screen is what a table is drawn for.
type Screen struct {
	// Columns is how many fit; 0 = any number, as in a file.
	Columns int
	// Style is how a cell below a heading stands there; nil where there is plain text alone.
	Style func(heading, cell string) Style
}

// Draw is the table as lines for a screen: columns of which there is nothing are left out
// first where they do not fit, then those of Less, and the widest ones are wrapped. Where
// that is not enough, each row stands as a block of lines. A word is never cut.
func (t *Table) Draw(s Screen) string {
	d := drawing{Screen: s, table: t, rows: t.marked()}
	if d.measure(); s.Columns > 0 && !d.fit() && t.hasHead {
		return d.blocks()
	}
	var b strings.Builder
	for i, r := range d.rows {
		d.row(&b, r, i == 0 && t.hasHead)
	}
	return b.String()
}

// marked are the rows with their marks.
func (t *Table) marked() []row {
	rows, first := slices.Clone(t.rows), 0
	if t.hasHead {
		first = 1
	}
	body := rows[first:]
	if !t.hasHead || len(body) == 0 {
		return rows
	}
	behind := func(r *row, m mark) {
		if i := slices.Index(t.rows[0].cells, m.column); i >= 0 && i < len(r.cells) && m.word != "" {
			r.cells = slices.Clone(r.cells)
			r.cells[i] = strings.TrimPrefix(r.cells[i]+" "+m.word, None+" ")
		}
	}
	if all := body[0].mark; !slices.ContainsFunc(body, func(r row) bool { return r.mark != all }) {
		if all.word != "" {
			all.word = "(" + all.word + ")"
		}
		behind(&rows[0], all)
		return rows
	}
	for i := range body {
		behind(&body[i], body[i].mark)
	}
	return rows
}

// drawing is a table on its way to a screen.
type drawing struct {
	Screen
	table  *Table
	rows   []row
	widths []int
	left   []bool // columns that are left out
}

// measure takes the widths of all columns.
func (d *drawing) measure() {
	d.each(func(i int, cell string) {
		if i == len(d.widths) {
			d.widths, d.left = append(d.widths, 0), append(d.left, false)
		}
		d.widths[i] = max(d.widths[i], Width(cell))
	})
}

func (d *drawing) each(visit func(column int, cell string)) {
	for _, r := range d.rows {
		for i, c := range r.cells {
			if !r.spans {
				visit(i, c)
			}
		}
	}
}

// over is by how much the table is too wide.
func (d *drawing) over() int {
	total := -2
	for i, w := range d.widths {
		if !d.left[i] {
			total += w + 2
		}
	}
	return total - d.Columns
}

// fit reports whether it could.
func (d *drawing) fit() bool {
	if d.table.hasHead {
		isEmpty := slices.Repeat([]bool{true}, len(d.widths))
		for _, r := range d.rows[1:] {
			for i, c := range r.cells {
				isEmpty[i] = isEmpty[i] && (r.spans || c == "" || c == None)
			}
		}
		for i := range isEmpty {
			if isEmpty[i] && d.over() > 0 && len(d.rows) > 1 {
				d.left[i] = true
			}
		}
		for _, name := range d.table.less {
			if i := slices.Index(d.table.rows[0].cells, name); i >= 0 && d.over() > 0 {
				d.left[i] = true
			}
		}
	}
	least := make([]int, len(d.widths))
	d.each(func(i int, cell string) {
		indent := len(cell) - len(strings.TrimLeft(cell, " "))
		for _, word := range words(cell) {
			least[i] = max(least[i], indent+Width(word))
		}
	})
	for d.over() > 0 {
		widest := -1
		for i, w := range d.widths {
			if !d.left[i] && w > least[i] && (widest < 0 || w > d.widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return false
		}
		d.widths[widest]--
	}
	return true
}

// blocks are the rows one below the other, each with a line for each of its cells.
func (d *drawing) blocks() string {
	var all []string
	for _, r := range d.rows[1:] {
		block := NewTable()
		for i, c := range r.cells {
			switch {
			case r.spans:
				block.Span(c)
			case c != "" && c != None && !d.left[i]:
				block.rows = append(block.rows, row{cells: []string{d.rows[0].cells[i], c}})
			}
		}
		all = append(all, block.Draw(d.Screen))
	}
	return strings.Join(all, "\n")
}

// row writes a row, which takes more than one line where a cell was wrapped.
func (d *drawing) row(b *strings.Builder, r row, isHead bool) {
	if r.spans {
		b.WriteString(Wrap(r.cells[0], d.Columns) + "\n")
		return
	}
	cells, lines := make([][]string, len(r.cells)), 1
	for i, c := range r.cells {
		if !d.left[i] {
			cells[i] = strings.Split(Wrap(c, d.widths[i]), "\n")
			lines = max(lines, len(cells[i]))
		}
	}
	for n := range lines {
		line, space := "", 0
		for i, c := range cells {
			if d.left[i] {
				continue
			}
			part := ""
			if n < len(c) {
				part = strings.TrimRight(c[n], " ")
			}
			if part != "" {
				line += strings.Repeat(" ", space) + d.styled(i, r.cells[i], part, isHead)
				space = 0
			}
			space += d.widths[i] - Width(part) + 2
		}
		b.WriteString(line + "\n")
	}
}

// styled is a part of a cell as it stands there.
func (d *drawing) styled(i int, cell, part string, isHead bool) string {
	heading := ""
	if d.table.hasHead && i < len(d.table.rows[0].cells) {
		heading = d.table.rows[0].cells[i]
	}
	switch {
	case d.Style == nil:
		return part
	case isHead:
		return Bold.On(part)
	}
	return d.Style(heading, cell).On(part)
}

// Width is how many columns of a terminal a text takes: marks over a letter
// take none, East Asian letters and pictures two. The language of the terminal does
// not matter.
func Width(s string) int { return (&runewidth.Condition{}).StringWidth(s) }
