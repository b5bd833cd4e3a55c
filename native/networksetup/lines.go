package networksetup

import (
	"fmt"
	"slices"
	"strings"
)

// maxBytes is the most that is read, a thousand times a full list.
const maxBytes = 4 << 20

// line is a line with its number from 1.
type line struct {
	number int
	text   string
}

// field is "Key: value" of a line.
func (l line) field() (key, value string, ok bool) {
	key, value, ok = strings.Cut(l.text, ":")
	return strings.TrimSpace(key), strings.TrimSpace(value), ok
}

// blocks splits a text at its empty lines.
func blocks(data []byte) ([][]line, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("it has %d bytes; at most %d can be read", len(data), maxBytes)
	}
	var all [][]line
	var block []line
	number := 0
	for text := range strings.SplitSeq(string(data), "\n") {
		number++
		if text = strings.TrimSpace(text); text != "" {
			block = append(block, line{number, text})
			continue
		}
		if block != nil {
			all = append(all, block)
		}
		block = nil
	}
	if block != nil {
		all = append(all, block)
	}
	return all, nil
}

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
