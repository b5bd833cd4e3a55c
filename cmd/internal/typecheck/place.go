package typecheck

import (
	"path/filepath"
	"strconv"
	"strings"
)

// placed makes a finding of a place as the go command writes it: file:line:column
// with the file as seen from dir, or nothing.
func placed(dir, at, text string) Finding {
	parts := strings.Split(at, ":")
	if len(parts) < 2 {
		return Finding{Text: text}
	}
	line, err := strconv.Atoi(parts[1])
	if err != nil {
		return Finding{Text: strings.TrimSpace(at + ": " + text)}
	}
	file := parts[0]
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	return Finding{File: file, Line: line, Text: text}
}
