package systemprofiler

import (
	"fmt"
	"slices"
)

// maxNotes bounds the notes of one recording; what comes after is counted.
const maxNotes = 64

// notes collects lines, each once.
type notes struct {
	lines []string
	more  int
}

func (n *notes) add(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	switch {
	case slices.Contains(n.lines, line):
	case len(n.lines) == maxNotes:
		n.more++
	default:
		n.lines = append(n.lines, line)
	}
}

func (n *notes) list() []string {
	if n.more > 0 {
		return append(n.lines, fmt.Sprintf("and %d more", n.more))
	}
	return n.lines
}
