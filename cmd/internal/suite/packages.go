package main

import (
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

// tools is where the tools of this repository lie, which end before anybody minds
// a race.
const tools = "fulmen/cmd/internal/"

// split says which packages are tested under the race detector, and which
// without it. Where nothing happens at the same time there is no race. What was
// tested under it runs again only where a test does less in short, as it does
// there.
func split(all []unit) (raced, plain []string, err error) {
	for _, u := range all {
		s, err := look(u)
		if err != nil {
			return nil, nil, err
		}
		s.concurrent = s.concurrent && !strings.HasPrefix(u.ImportPath, tools)
		if s.concurrent {
			raced = append(raced, u.ImportPath)
		}
		if !s.concurrent || s.shorter {
			plain = append(plain, u.ImportPath)
		}
	}
	return raced, plain, nil
}

// seen is what the files of a package have.
type seen struct {
	concurrent bool // a go statement, or what is there for several goroutines
	shorter    bool // a test that asks for short
}

func look(u unit) (seen, error) {
	var s seen
	for _, name := range slices.Concat(u.GoFiles, u.CgoFiles, u.TestGoFiles, u.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(u.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return s, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
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
				case of != nil && of.Name == "testing" && n.Sel.Name == "Short":
					s.shorter = true
				case n.Sel.Name == "Go" || n.Sel.Name == "Parallel" || n.Sel.Name == "AfterFunc":
					s.concurrent = true
				}
			}
			return true
		})
	}
	return s, nil
}
