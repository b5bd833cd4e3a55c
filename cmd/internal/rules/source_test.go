package rules

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// source is one parsed Go file of the repository.
type source struct {
	name string
	fset *token.FileSet
	file *ast.File
}

// line gives the line of pos.
func (s source) line(pos token.Pos) int {
	return s.fset.Position(pos).Line
}

// isTest reports whether s is compiled into tests only.
func (s source) isTest() bool {
	return strings.HasSuffix(s.name, "_test.go")
}

// goFiles lists the Go files of packages, whatever platform they are for.
func (t *Tree) goFiles() []string {
	var names []string
	for _, name := range t.files {
		if path.Ext(name) == ".go" && !isTestdata(name) {
			names = append(names, name)
		}
	}
	return names
}

// sources gives every Go file of packages, whatever platform it is for, parsed once
// for all rules, none of which changes it. A file that does not parse is an error
// that names the place.
func (t *Tree) sources() ([]source, error) { return t.parsed() }

func (t *Tree) parse() ([]source, error) {
	var all []source
	for _, name := range t.goFiles() {
		text, err := t.read(name)
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		all = append(all, source{name, fset, file})
	}
	return all, nil
}

// byFolder groups the non-test files by folder, in order.
func byFolder(all []source) (folders []string, files map[string][]source) {
	files = map[string][]source{}
	for _, s := range all {
		if s.isTest() {
			continue
		}
		dir := path.Dir(s.name)
		if files[dir] == nil {
			folders = append(folders, dir)
		}
		files[dir] = append(files[dir], s)
	}
	sort.Strings(folders)
	return folders, files
}

// importName gives the name under which s imports the package at path, or "".
func (s source) importName(at string) string {
	for _, imp := range s.file.Imports {
		if imp.Path.Value != strconv.Quote(at) {
			continue
		}
		if imp.Name != nil {
			return imp.Name.Name
		}
		return path.Base(strings.TrimSuffix(at, "/v2"))
	}
	return ""
}

// uses calls found for every mention of an exported name of the package at the
// import path at that is listed in names; nil: all are.
func (s source) uses(at string, names map[string]bool, found func(sel *ast.SelectorExpr)) {
	pkg := s.importName(at)
	if pkg == "" {
		return
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if ok && x.Name == pkg && (names == nil || names[sel.Sel.Name]) {
			found(sel)
		}
		return true
	})
}

// virtual reports whether pos lies where time passes without anybody waiting:
// between the parentheses of a synctest.Test, or in a function that calls
// synctest.Wait outside of those, which panics where time is real.
func (s source) virtual(pos token.Pos) bool {
	if s.inBubble(pos) {
		return true
	}
	var waits []token.Pos
	s.uses("testing/synctest", map[string]bool{"Wait": true}, func(sel *ast.SelectorExpr) {
		if !s.inBubble(sel.Pos()) {
			waits = append(waits, sel.Pos())
		}
	})
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Pos() < pos && pos < f.End() {
			return slices.ContainsFunc(waits, func(w token.Pos) bool { return f.Pos() < w && w < f.End() })
		}
	}
	return false
}

// inBubble reports whether pos lies between the parentheses of a synctest.Test.
func (s source) inBubble(pos token.Pos) bool {
	bubbles := map[*ast.SelectorExpr]bool{}
	s.uses("testing/synctest", map[string]bool{"Test": true}, func(sel *ast.SelectorExpr) { bubbles[sel] = true })
	inside := false
	ast.Inspect(s.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			sel, ok := call.Fun.(*ast.SelectorExpr)
			inside = inside || ok && bubbles[sel] && call.Lparen < pos && pos < call.Rparen
		}
		return !inside
	})
	return inside
}
