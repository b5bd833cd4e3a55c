package rules

import (
	"go/build"
	"io"
	"path"
	"runtime"
	"slices"
	"strings"
)

// platform is one way in which the code is built.
type platform struct {
	goos, goarch string
	tags         []string
	why          string // for tags: what such a build is for
}

// platforms are the systems whose code is checked, on whatever machine the check
// runs.
var platforms = []platform{
	{goos: "linux", goarch: "amd64"},
	{goos: "darwin", goarch: "arm64"},
	{goos: "linux", goarch: "amd64", tags: []string{"darwinsim"}, why: "the code for macOS over simulated frameworks, which make test runs on Linux"},
}

// checkPlatforms type-checks the code and its tests for the other platforms too.
// Names in C are left to a compiler for that platform, which make test has for
// macOS. A file that is built nowhere is looked at by nobody.
func checkPlatforms(t *Tree) ([]Problem, error) {
	out, err := builtNowhere(t)
	if err != nil {
		return nil, err
	}
	for _, p := range platforms {
		if p.goos == runtime.GOOS {
			continue
		}
		found, err := typecheck(t.root, p, "./...")
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// builtNowhere finds Go files that no platform has, by their names or build
// constraints. What stands in for other systems is built on a system that is
// neither of ours.
func builtNowhere(t *Tree) ([]Problem, error) {
	var out []Problem
	all := append(slices.Clip(platforms), platform{goos: "freebsd", goarch: "amd64"})
	for _, name := range t.goFiles() {
		built := false
		for _, p := range all {
			context := build.Default
			context.GOOS, context.GOARCH, context.BuildTags, context.CgoEnabled = p.goos, p.goarch, p.tags, true
			context.JoinPath = path.Join
			context.OpenFile = func(name string) (io.ReadCloser, error) { return t.fsys.Open(name) }
			matched, err := context.MatchFile(path.Dir(name), path.Base(name))
			if err != nil {
				return nil, err
			}
			built = built || matched
		}
		if !built && !strings.HasPrefix(path.Base(name), "_") {
			out = append(out, Problem{File: name, What: "is built on no platform that is checked", Remedy: "mend its build constraint, or add its tags to platforms in cmd/internal/rules/platforms_test.go"})
		}
	}
	return out, nil
}
