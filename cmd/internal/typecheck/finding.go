package typecheck

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Finding is one fault in the source.
type Finding struct {
	// File is the path of the file as the go command gives it: absolute. It is
	// empty where a fault belongs to no file, as with a missing module.
	File string
	// Line counts from 1; 0 where there is no file.
	Line int
	// Text says what is wrong, in the words of go/types or of the go command.
	Text string
}

// String gives the finding as file:line: text.
func (f Finding) String() string {
	if f.File == "" {
		return f.Text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Text)
}

// sorted gives the findings in the order of their places, each once: a package
// is checked again with its tests.
func sorted(all []Finding) []Finding {
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(all)
}

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
