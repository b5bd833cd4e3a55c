package rules

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// typecheck type-checks packages of the module at root and their tests for a platform
// on any other, without that platform's C compiler, and gives what is wrong with them.
// The error says why the check could not be made.
//
// The go command is asked for metadata only, so it never runs cgo; everything is
// then checked from source, each package after what it imports. Every use of C is
// taken as correct (go/types calls this a fake import), so modules that bind
// Apple's frameworks are no hindrance: a wrong method, arity or type of theirs is
// found, a wrong name in C is not. That takes a C compiler for the platform, which
// package darwincheck has.
//
// One fault that the compiler accepts is found too: a Go function that darwinkit
// panics over when it makes a method or a block of it.
func typecheck(root string, p platform, patterns ...string) ([]Problem, error) {
	args := append([]string{"-deps", "-test", "-tags=" + strings.Join(p.tags, ","), "--"}, patterns...)
	units, err := list(root, []string{"GOOS=" + p.goos, "GOARCH=" + p.goarch, "CGO_ENABLED=1"}, args...)
	if err != nil {
		return nil, err
	}
	// The program that the go command writes around the tests of a package is none of ours.
	units = slices.DeleteFunc(units, func(u *goPackage) bool { return strings.HasSuffix(u.ImportPath, ".test") })
	if len(units) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	c := &checker{
		root:    root,
		remedy:  "mend it; seen by type-checking for GOOS=" + p.goos + " GOARCH=" + p.goarch,
		sizes:   types.SizesFor("gc", p.goarch),
		fset:    token.NewFileSet(),
		checked: map[string]*types.Package{"unsafe": types.Unsafe},
		tested:  map[string]bool{},
		cgo:     map[string]bool{},
	}
	if c.sizes == nil {
		return nil, fmt.Errorf("no sizes of types are known for %s", p.goarch)
	}
	for _, u := range units {
		c.tested[u.ForTest] = true
		for _, name := range u.CgoFiles {
			c.cgo[filepath.Join(u.Dir, name)] = true
		}
	}
	parsed := c.parse(units)
	for i, u := range units {
		c.check(u, parsed[i])
		parsed[i] = nil // what was checked may go from memory
	}
	// A package is checked again with its tests: each fault once.
	slices.SortFunc(c.found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(c.found), nil
}

// checker holds what is known while the packages are gone through.
type checker struct {
	root    string
	remedy  string
	sizes   types.Sizes
	fset    *token.FileSet
	checked map[string]*types.Package
	tested  map[string]bool // packages that come again with their own tests
	cgo     map[string]bool // files that import "C"
	found   []Problem
}

// fault keeps what is wrong at a place; file is empty where it belongs to none.
func (c *checker) fault(file string, line int, text string) {
	if relative, err := filepath.Rel(c.root, file); err == nil {
		file = filepath.ToSlash(relative)
	}
	c.found = append(c.found, Problem{File: file, Line: line, What: text, Remedy: c.remedy})
}

// parsedFiles are the files of a package.
type parsedFiles struct {
	files []*ast.File
	err   []error
}

// parse reads all files, on every processor.
func (c *checker) parse(units []*goPackage) []*parsedFiles {
	all := make([]*parsedFiles, len(units))
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, u := range units {
		all[i] = new(parsedFiles)
		wait.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			for _, name := range u.files() {
				file, err := parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution|parser.AllErrors)
				if err != nil {
					all[i].err = append(all[i].err, err)
				}
				if file != nil {
					all[i].files = append(all[i].files, file)
				}
			}
		})
	}
	wait.Wait()
	return all
}

// check type-checks one package. Of what is only imported, and of packages that
// come again with their tests, the bodies of functions are left out.
func (c *checker) check(u *goPackage, src *parsedFiles) {
	if u.ImportPath == "unsafe" {
		return
	}
	if u.Error != nil {
		c.placed(u.Error.Pos, u.Error.Err)
	}
	for _, err := range src.err {
		c.broken(err)
	}
	if len(src.files) == 0 {
		return
	}
	config := types.Config{
		FakeImportC:      true,
		IgnoreFuncBodies: u.DepOnly || (u.ForTest == "" && c.tested[u.ImportPath]) || (u.ForTest != "" && !u.ownTest()),
		Sizes:            c.sizes,
		Importer:         importer{c, u},
		Error:            c.wrong,
	}
	if u.Module != nil && u.Module.GoVersion != "" {
		config.GoVersion = "go" + u.Module.GoVersion
	}
	name, _, _ := strings.Cut(u.ImportPath, " ")
	var info *types.Info
	if callsObjC(src.files) && !config.IgnoreFuncBodies {
		info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{}}
	}
	c.checked[u.ImportPath], _ = config.Check(name, c.fset, src.files, info) // its error went to c.wrong
	if info != nil {
		c.blocks(info, src.files)
	}
}

// ownTest reports whether u is a package with its own tests, or those tests
// beside it, and not one that is built anew because it imports such a package.
func (u *goPackage) ownTest() bool {
	name, _, _ := strings.Cut(u.ImportPath, " ")
	return name == u.ForTest || name == u.ForTest+"_test"
}

// wrong keeps what go/types says.
func (c *checker) wrong(err error) {
	var fault types.Error
	if !errors.As(err, &fault) {
		c.fault("", 0, err.Error())
		return
	}
	at := fault.Fset.Position(fault.Pos)
	if c.cgo[at.Filename] && strings.Contains(fault.Msg, "invalid type") {
		return // a type of C, of which nothing is known here: it fits nowhere that a type is inferred
	}
	c.fault(at.Filename, at.Line, fault.Msg)
}

// broken keeps what the parser says.
func (c *checker) broken(err error) {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		c.fault("", 0, err.Error())
		return
	}
	for _, fault := range list {
		c.fault(fault.Pos.Filename, fault.Pos.Line, fault.Msg)
	}
}

// placed keeps what the go command says of a place, which it writes as
// file:line:column with the file as seen from the root, or not at all.
func (c *checker) placed(at, text string) {
	parts := strings.Split(at, ":")
	if len(parts) < 2 {
		c.fault("", 0, text)
		return
	}
	line, err := strconv.Atoi(parts[1])
	if err != nil {
		c.fault("", 0, strings.TrimSpace(at+": "+text))
		return
	}
	file := parts[0]
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.root, file)
	}
	c.fault(file, line, text)
}

// importer gives a package what it imports.
type importer struct {
	*checker
	into *goPackage
}

// Import gives the package that path means in the importing package, which is
// another one in tests and in the standard library's own copies of modules.
func (i importer) Import(path string) (*types.Package, error) {
	if mapped, ok := i.into.ImportMap[path]; ok {
		path = mapped
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("package %s is not in the build", path)
}
