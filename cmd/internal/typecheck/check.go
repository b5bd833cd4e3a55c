package typecheck

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Check type-checks the packages and their tests, with cgo faked, and gives what
// is wrong with them. The error says why the check could not be made.
func Check(b Build) ([]Finding, error) {
	units, err := b.list()
	if err != nil {
		return nil, err
	}
	if len(units) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(b.Patterns, " "))
	}
	c := &checker{
		dir:     b.Dir,
		sizes:   types.SizesFor("gc", b.GOARCH),
		fset:    token.NewFileSet(),
		checked: map[string]*types.Package{"unsafe": types.Unsafe},
		tested:  map[string]bool{},
		cgo:     map[string]bool{},
	}
	if c.sizes == nil {
		return nil, fmt.Errorf("no sizes of types are known for %s", b.GOARCH)
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
	return sorted(c.findings), nil
}

// checker holds what is known while the packages are gone through.
type checker struct {
	dir      string
	sizes    types.Sizes
	fset     *token.FileSet
	checked  map[string]*types.Package
	tested   map[string]bool // packages that come again with their own tests
	cgo      map[string]bool // files that import "C"
	findings []Finding
}

// source is the files of a package.
type source struct {
	files []*ast.File
	err   []error
}

// parse reads all files, on every processor.
func (c *checker) parse(units []*unit) []*source {
	all := make([]*source, len(units))
	var wait sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, u := range units {
		all[i] = new(source)
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
func (c *checker) check(u *unit, src *source) {
	if u.ImportPath == "unsafe" {
		return
	}
	if u.Error != nil {
		c.findings = append(c.findings, placed(c.dir, u.Error.Pos, u.Error.Err))
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
func (u *unit) ownTest() bool {
	name, _, _ := strings.Cut(u.ImportPath, " ")
	return name == u.ForTest || name == u.ForTest+"_test"
}

// wrong keeps what go/types says.
func (c *checker) wrong(err error) {
	var fault types.Error
	if !errors.As(err, &fault) {
		c.findings = append(c.findings, Finding{Text: err.Error()})
		return
	}
	at := fault.Fset.Position(fault.Pos)
	if c.cgo[at.Filename] && strings.Contains(fault.Msg, "invalid type") {
		return // a type of C, of which nothing is known here: it fits nowhere that a type is inferred
	}
	c.findings = append(c.findings, Finding{File: at.Filename, Line: at.Line, Text: fault.Msg})
}

// broken keeps what the parser says.
func (c *checker) broken(err error) {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		c.findings = append(c.findings, Finding{Text: err.Error()})
		return
	}
	for _, fault := range list {
		c.findings = append(c.findings, Finding{File: fault.Pos.Filename, Line: fault.Pos.Line, Text: fault.Msg})
	}
}

// importer gives a package what it imports.
type importer struct {
	*checker
	into *unit
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
