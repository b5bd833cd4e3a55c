package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// unit is a package as the go command lists it.
type unit struct {
	ImportPath, Dir           string
	GoFiles, CgoFiles         []string
	TestGoFiles, XTestGoFiles []string
}

// list gives the packages of the module that have tests here.
func list() ([]unit, error) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles", "fulmen/...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []unit
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var u unit
		if err := dec.Decode(&u); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read what go list wrote: %w", err)
		}
		if len(u.TestGoFiles)+len(u.XTestGoFiles) > 0 {
			all = append(all, u)
		}
	}
}

// isOutside reports whether little of the product runs in a package's tests: they are of
// the tools of this repository, or drive programs.
func isOutside(pkg string) bool {
	drivers := []string{"fulmen/daemon/e2e", "fulmen/cmd/fulmen", "fulmen/cmd/fulmen/internal/demo", "fulmen/assets/dashboard/browser"}
	return strings.HasPrefix(pkg, "fulmen/cmd/internal/") || slices.Contains(drivers, pkg)
}

// parted are the packages by how they are tested.
type parted struct {
	// raced are tested under the race detector, in short.
	raced []string
	// plain are tested without it: nothing happens there at the same time, or who knows
	// what does less in short.
	plain []string
	// again are of the raced those with tests that do less in short, and tests are these.
	again, tests []string
}

// split says how packages are tested.
func split(all []unit) (p parted, err error) {
	for _, u := range all {
		s, err := look(u)
		if err != nil {
			return p, err
		}
		s.concurrent = s.concurrent && !isOutside(u.ImportPath)
		if s.concurrent {
			p.raced = append(p.raced, u.ImportPath)
		}
		switch {
		case !s.concurrent || s.shorter:
			p.plain = append(p.plain, u.ImportPath)
		case len(s.tests) > 0:
			p.again, p.tests = append(p.again, u.ImportPath), append(p.tests, s.tests...)
		}
	}
	slices.Sort(p.tests)
	p.tests = slices.Compact(p.tests)
	return p, nil
}

// seen is what the files of a package have.
type seen struct {
	concurrent bool     // a go statement, or what is there for several goroutines
	tests      []string // that ask for short
	shorter    bool     // something else asks for it
	fuzz       []string // targets
}

func look(u unit) (seen, error) {
	var s seen
	for _, name := range slices.Concat(u.GoFiles, u.CgoFiles, u.TestGoFiles, u.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(u.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return s, err
		}
		for _, d := range file.Decls {
			s.see(d)
		}
	}
	return s, nil
}

// see notes what a declaration has.
func (s *seen) see(d ast.Decl) {
	test := "" // that it is
	if f, _ := d.(*ast.FuncDecl); f != nil && f.Recv == nil {
		switch {
		case strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain":
			test = f.Name.Name
		case strings.HasPrefix(f.Name.Name, "Fuzz"):
			s.fuzz = append(s.fuzz, f.Name.Name)
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			s.concurrent = true
		case *ast.ImportSpec:
			s.concurrent = s.concurrent || slices.Contains([]string{`"sync/atomic"`, `"testing/synctest"`, `"net/http/httptest"`}, n.Path.Value)
		case *ast.SelectorExpr:
			of, _ := n.X.(*ast.Ident)
			switch {
			case of != nil && of.Name == "sync":
				// What is worked out once is the same for whoever comes first.
				s.concurrent = s.concurrent || !strings.HasPrefix(n.Sel.Name, "Once")
			case of != nil && of.Name == "testing" && n.Sel.Name == "Short" && test != "":
				s.tests = append(s.tests, test)
			case of != nil && of.Name == "testing" && n.Sel.Name == "Short":
				s.shorter = true
			case n.Sel.Name == "Go" || n.Sel.Name == "Parallel" || n.Sel.Name == "AfterFunc":
				s.concurrent = true
			}
		}
		return true
	})
}

// fuzz runs every fuzz target of the module that builds on this machine for that long,
// one after the other: `go test -fuzz` takes one at a time. The first that fails is the last.
func fuzz(ctx context.Context, each string) error {
	all, err := list()
	if err != nil {
		return err
	}
	for _, u := range all {
		s, err := look(u)
		if err != nil {
			return err
		}
		for _, name := range s.fuzz {
			if err := command(ctx, "go", "test", "-run=^$", "-fuzz=^"+name+"$", "-fuzztime="+each, u.ImportPath).Run(); err != nil {
				return fmt.Errorf("%s of %s: %w", name, u.ImportPath, err)
			}
		}
	}
	return nil
}
