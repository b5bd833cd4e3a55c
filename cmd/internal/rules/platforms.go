package rules

import (
	"path/filepath"
	"runtime"

	"fulmen/cmd/internal/typecheck"
)

// platforms are the systems whose code is checked, on whatever machine the check
// runs: GOOS, GOARCH.
var platforms = [][2]string{{"linux", "amd64"}, {"darwin", "arm64"}}

// checkPlatforms type-checks the code and its tests for the other platforms too.
// Names in C are left to a compiler for that platform, which make test has for
// macOS.
func checkPlatforms(t *Tree) ([]Problem, error) {
	var out []Problem
	for _, p := range platforms {
		if p[0] == runtime.GOOS {
			continue
		}
		found, err := typecheck.Check(typecheck.Build{Dir: t.root, GOOS: p[0], GOARCH: p[1], Patterns: []string{"./..."}})
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			file, err := filepath.Rel(t.root, f.File)
			if err != nil {
				file = f.File
			}
			out = append(out, Problem{
				File: file, Line: f.Line, What: f.Text,
				Remedy: "mend it; seen by type-checking for GOOS=" + p[0] + " GOARCH=" + p[1],
			})
		}
	}
	return out, nil
}
