package text

import (
	"strings"
	"unicode/utf8"
)

// Place is a position for people.
type Place struct {
	// Line counts from 1.
	Line int
	// Column counts characters from 1.
	Column int
}

// PlaceOf is where a byte stands.
func PlaceOf(text string, at int) Place {
	at = min(at, len(text))
	before := text[:at]
	start := strings.LastIndexByte(before, '\n') + 1
	return Place{Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[start:]) + 1}
}
