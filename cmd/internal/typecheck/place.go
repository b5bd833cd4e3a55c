package typecheck

import (
	"strconv"
	"strings"
)

// placed makes a finding of a place as the go command writes it: file:line:column,
// or nothing.
func placed(at, text string) Finding {
	parts := strings.Split(at, ":")
	if len(parts) < 2 {
		return Finding{Text: text}
	}
	line, err := strconv.Atoi(parts[1])
	if err != nil {
		return Finding{Text: strings.TrimSpace(at + ": " + text)}
	}
	return Finding{File: parts[0], Line: line, Text: text}
}
