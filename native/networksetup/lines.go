package networksetup

import (
	"fmt"
	"strings"
)

const (
	// maxBytes is the most that is read, a thousand times a full list.
	maxBytes = 4 << 20
	maxNotes = 64
)

// notes collects lines for people, bounded.
type notes struct {
	lines []string
	more  int
}

func (n *notes) add(format string, args ...any) {
	if len(n.lines) == maxNotes {
		n.more++
		return
	}
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *notes) list() []string {
	if n.more > 0 {
		return append(n.lines, fmt.Sprintf("and %d more", n.more))
	}
	return n.lines
}

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
		return nil, fmt.Errorf("%d bytes, more than the %d that are read", len(data), maxBytes)
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
