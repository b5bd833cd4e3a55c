package rules

import (
	"fmt"
	"path"
	"regexp"
	"slices"
)

// lengthLimit is the longest that files of some kinds may be.
type lengthLimit struct {
	folders    []string // from the root; empty: everywhere
	extensions []string
	lines      int // the greatest number of lines that is still well
}

// lengthLimits: the strictest that applies comes first.
var lengthLimits = []lengthLimit{
	{[]string{"native", "mlxbridge"}, []string{".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".m", ".mm"}, 299},
	{nil, []string{
		".go", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".m", ".mm", ".metal",
		".sh", ".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".css",
	}, 600},
}

// generated is the line by which tools know a generated file, with the comment
// signs of the languages here.
var generated = regexp.MustCompile(`^(//|#|/\*|--) Code generated .* DO NOT EDIT\.( \*/)?$`)

// checkLength refuses files that are too long; generated ones are as long as
// they need to be.
func checkLength(t *Tree) ([]Problem, error) {
	var out []Problem
	for _, name := range t.files {
		limit, ok := limitFor(name)
		if !ok {
			continue
		}
		lines, err := t.lines(name)
		if err != nil {
			return nil, err
		}
		if len(lines) <= limit.lines || isGenerated(lines) {
			continue
		}
		out = append(out, Problem{
			File: name, Line: len(lines), What: fmt.Sprintf("%d lines, more than %d", len(lines), limit.lines),
			Remedy: "split it by concept, one exported concept a file",
		})
	}
	return out, nil
}

func limitFor(name string) (lengthLimit, bool) {
	for _, l := range lengthLimits {
		if slices.Contains(l.extensions, path.Ext(name)) && (l.folders == nil || covers(l.folders, path.Dir(name))) {
			return l, true
		}
	}
	return lengthLimit{}, false
}

// isGenerated reports whether one of the first lines is the generated-file line.
func isGenerated(lines []line) bool {
	for _, l := range lines[:min(len(lines), 20)] {
		if generated.MatchString(l.text) {
			return true
		}
	}
	return false
}

// covers reports whether dir is one of roots or lies in one.
func covers(roots []string, dir string) bool {
	for _, r := range roots {
		if within(r, dir) {
			return true
		}
	}
	return false
}
