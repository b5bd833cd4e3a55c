package rules

import (
	"bytes"
	"go/format"
)

// checkFormat refuses Go files that gofmt would change.
func checkFormat(t *Tree) ([]Problem, error) {
	var out []Problem
	for _, name := range t.goFiles() {
		text, err := t.read(name)
		if err != nil {
			return nil, err
		}
		want, err := format.Source(text)
		if err != nil {
			out = append(out, Problem{File: name, What: "does not parse: " + err.Error(), Remedy: "mend the syntax"})
			continue
		}
		if !bytes.Equal(text, want) {
			out = append(out, Problem{
				File: name, Line: firstDifference(text, want), What: "not formatted",
				Remedy: "gofmt -w " + name,
			})
		}
	}
	return out, nil
}

// firstDifference gives the first line, from 1, in which a and b differ.
func firstDifference(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return 1 + bytes.Count(a[:n], []byte("\n"))
}
