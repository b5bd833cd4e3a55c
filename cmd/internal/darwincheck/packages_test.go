package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// module is the path of this module.
const module = "fulmen"

// goPackage is what the go command says of a package as a Mac would build it.
type goPackage struct {
	ImportPath                string
	Dir                       string
	Standard                  bool
	GoFiles                   []string
	CgoFiles                  []string
	TestGoFiles, XTestGoFiles []string
	CFiles                    []string
	HFiles                    []string
	MFiles                    []string
	CgoCFLAGS                 []string
	Deps                      []string
}

// own reports whether p belongs to this module.
func (p *goPackage) own() bool {
	return p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
}

// files gives the paths of files of p.
func (p *goPackage) files(names []string) []string {
	var all []string
	for _, name := range names {
		all = append(all, filepath.Join(p.Dir, name))
	}
	return all
}

// packages lists what the patterns name and all that it imports, for macOS.
// Nothing is compiled.
func (t *Toolchain) packages(patterns ...string) ([]*goPackage, error) {
	return t.list(nil, patterns)
}

func (t *Toolchain) list(env []string, patterns []string) ([]*goPackage, error) {
	args := []string{"list", "-e", "-deps", "-json=ImportPath,Dir,Standard,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,CFiles,HFiles,MFiles,CgoCFLAGS,Deps"}
	t = &Toolchain{root: t.root, env: append(slices.Clone(t.env), env...)}
	out, err := t.command("go", append(args, patterns...)...)
	if err != nil {
		return nil, err
	}
	var all []*goPackage
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		p := new(goPackage)
		if err := dec.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list wrote: %w", err)
		}
		all = append(all, p)
	}
}

// different gives those of the packages for macOS that call C, or have other
// files than on Linux: of the rest, vet for Linux sees every line.
func different(macos, linux []*goPackage) []*goPackage {
	files := func(p *goPackage) []string {
		return slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles)
	}
	there := map[string][]string{}
	for _, p := range linux {
		there[p.ImportPath] = files(p)
	}
	var out []*goPackage
	for _, p := range macos {
		if len(p.CgoFiles) > 0 || !slices.Equal(files(p), there[p.ImportPath]) {
			out = append(out, p)
		}
	}
	return out
}

// compilable gives our own packages without those that need Objective-C of
// another module, which takes Apple's own headers.
func compilable(some, all []*goPackage) []string {
	foreign := map[string]bool{}
	for _, p := range all {
		if !p.Standard && !p.own() && (len(p.MFiles) > 0 || slices.Contains(p.CgoCFLAGS, "objective-c")) {
			foreign[p.ImportPath] = true
		}
	}
	var out []string
	for _, p := range some {
		if p.own() && !slices.ContainsFunc(p.Deps, func(dep string) bool { return foreign[dep] }) {
			out = append(out, p.ImportPath)
		}
	}
	return out
}
