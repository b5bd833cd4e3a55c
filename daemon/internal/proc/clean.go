package proc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// How many characters of foreign text go into one of our sentences.
const (
	maxStage = 80
	maxQuote = 200
)

// clean makes one line of printable text of at most limit characters from what
// a process wrote: control characters, also those that steer a terminal or turn
// the direction of writing, become spaces, and runs of space one.
func clean(s string, limit int) string {
	// Whoever sends a megabyte pays for no more than what can be kept.
	s = s[:min(len(s), 8*limit)]
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:limit-1])) + "…"
}
