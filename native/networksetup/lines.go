package networksetup

import (
	"fmt"
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
