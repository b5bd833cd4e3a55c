package rules

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is the path of this module, and the prefix of its packages.
const module = "fulmen"

// goPackage is what the rules know of one package in a build.
type goPackage struct {
	ImportPath string
	Dir        string
	Standard   bool
	Imports    []string
	GoFiles    []string
	CgoFiles   []string

	TestGoFiles  []string
	XTestGoFiles []string

	// DepOnly and ForTest tell what is only imported, and what is built anew for a test.
	DepOnly   bool
	ForTest   string
	ImportMap map[string]string
	Module    *struct{ GoVersion string }
	Error     *struct{ Pos, Err string }

	// at is where each import stands, by import path.
	at map[string]Problem
}

// own reports whether p belongs to this module.
func (p *goPackage) own() bool {
	return within(module, p.ImportPath)
}

// files gives the paths of the Go files of p.
func (p *goPackage) files() []string {
	var all []string
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		all = append(all, name)
	}
	return all
}

// command runs a tool in the module root. Its error holds what the tool wrote.
func command(root string, env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), env...)
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(out.String() + diag.String())
		return out.String(), fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, text)
	}
	return out.String(), nil
}

// list asks the go command for packages.
func list(root string, env []string, args ...string) ([]*goPackage, error) {
	args = append([]string{"list", "-e",
		"-json=ImportPath,Dir,Standard,Imports,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,DepOnly,ForTest,ImportMap,Module,Error"}, args...)
	out, err := command(root, env, "go", args...)
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

// build lists every package of the module and what it depends on, as compiled
// for one platform with cgo. Nothing is compiled.
func (t *Tree) build(p platform) (map[string]*goPackage, error) {
	env := []string{"GOOS=" + p.goos, "GOARCH=" + p.goarch, "CGO_ENABLED=1"}
	all, err := list(t.root, env, "-deps", "-tags="+strings.Join(p.tags, ","), "./...")
	if err != nil {
		return nil, err
	}
	packages := map[string]*goPackage{}
	for _, p := range all {
		packages[p.ImportPath] = p
		if p.own() {
			if err := t.locate(p); err != nil {
				return nil, err
			}
		}
	}
	return packages, nil
}

// locate finds where the imports of p stand.
func (t *Tree) locate(p *goPackage) error {
	p.at = map[string]Problem{}
	dir := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
	for _, name := range p.files() {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		for _, imp := range file.Imports {
			imported, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return fmt.Errorf("parse: %w", err)
			}
			if _, known := p.at[imported]; !known {
				p.at[imported] = Problem{File: path.Join(dir, filepath.Base(name)), Line: fset.Position(imp.Pos()).Line}
			}
		}
	}
	return nil
}
