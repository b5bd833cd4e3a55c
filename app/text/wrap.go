package text

import (
	"strings"
	"unicode"
)

// Style is how a text stands on a terminal: the sequence that begins it.
type Style string

// The styles.
const (
	Plain  Style = ""
	Bold   Style = "\x1b[1m"
	Green  Style = "\x1b[32m"
	Yellow Style = "\x1b[33m"
	Red    Style = "\x1b[31m"
)

// On is a text in a style.
func (s Style) On(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return string(s) + text + "\x1b[0m"
}

// Wrap breaks a line between words so that it fits, each further line as far in as the first
// one. A word is never cut, nor a number from its unit. 0 = nothing is broken.
func Wrap(line string, columns int) string {
	if columns <= 0 || Width(line) <= columns {
		return line
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	out, at := "", 0 // what is on the line that is written
	for _, word := range words(line) {
		switch {
		case out == "":
			out, at = indent, len(indent)
		case at+1+Width(word) > columns:
			out, at = out+"\n"+indent, len(indent)
		default:
			out, at = out+" ", at+1
		}
		out, at = out+word, at+Width(word)
	}
	return out
}

// words are what a line is not broken within: numbers and arrows belong to the word behind.
func words(line string) (out []string) {
	isOpen := false
	for word := range strings.FieldsSeq(line) {
		if isOpen {
			out[len(out)-1] += " " + word
		} else {
			out = append(out, word)
		}
		isOpen = !strings.ContainsFunc(word, unicode.IsLetter) && !strings.HasSuffix(word, ",")
	}
	return out
}

// WrapSentences breaks the lines of a text that are sentences, and those at its margin: what
// is further in and no sentence is a command or of a table, and stays.
func WrapSentences(text string, columns int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, end := strings.CutSuffix(line, "\n")
		if (!strings.HasPrefix(body, " ") || strings.HasSuffix(body, ".")) && !strings.Contains(body, "\x1b") {
			body = Wrap(body, columns)
		}
		b.WriteString(body)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
