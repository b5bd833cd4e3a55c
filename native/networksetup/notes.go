package networksetup

import (
	"fmt"
	"slices"
)

// MostNotes bounds the notes of one recording; those after it are counted only.
const MostNotes = 64

// Notes are the remarks that the reader of a recording leaves for people, what was odd
// and how it was read: lines, each once. The zero value is ready.
type Notes struct {
	lines []string
	more  int
}

// Add appends a line. What others wrote belongs in it cut and quoted.
func (n *Notes) Add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	switch {
	case slices.Contains(n.lines, line):
	case len(n.lines) == MostNotes:
		n.more++
	default:
		n.lines = append(n.lines, line)
	}
}

// List returns the lines in their order, nil where there are none, with a last
// one that counts what is over [MostNotes].
func (n *Notes) List() []string {
	if n.more > 0 {
		return append(slices.Clone(n.lines), fmt.Sprintf("and %d more", n.more))
	}
	return slices.Clone(n.lines)
}
