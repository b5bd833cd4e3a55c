package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one fault: a part of a file, and what stands there instead.
type mutant struct {
	pkg, file, function string
	line                int
	start, end          int // offsets in the file
	old, new            string
}

// String names a fault by what it is, so that the name outlives other changes of the file.
func (m mutant) String() string {
	return fmt.Sprintf("%s %s: %s => %s", m.file, m.function, oneLine(m.old), oneLine(m.new))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// swaps are the operators that stand for each other's mistakes.
var swaps = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
}

// mutantsOf lists the faults that can be put into the Go files of a folder, with
// how many lines these have. Tests and generated files are left alone.
func mutantsOf(folder string) (all []mutant, lines int, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, 0, err
	}
	slices.Sort(names)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, 0, err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, 0, err
		}
		if strings.HasSuffix(name, "_test.go") || strings.Contains(name, "_darwin") || ast.IsGenerated(file) {
			continue
		}
		lines += bytes.Count(text, []byte("\n"))
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				w := writer{fset: fset, text: text, made: mutant{pkg: folder, file: name, function: f.Name.Name}}
				ast.Inspect(f.Body, w.visit)
				all = append(all, w.all...)
			}
		}
	}
	return all, lines, nil
}

// writer collects the faults of one function.
type writer struct {
	fset *token.FileSet
	text []byte
	made mutant // what all have in common
	all  []mutant
}

func (w *writer) add(from, to token.Pos, with string) {
	m := w.made
	m.line, m.start, m.end, m.new = w.fset.Position(from).Line, w.fset.Position(from).Offset, w.fset.Position(to).Offset, with
	m.old = string(w.text[m.start:m.end])
	w.all = append(w.all, m)
}

// source is the text of a node.
func (w *writer) source(n ast.Node) string {
	return string(w.text[w.fset.Position(n.Pos()).Offset:w.fset.Position(n.End()).Offset])
}

func (w *writer) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, op := range swaps[n.Op] {
			w.add(n.Pos(), n.End(), w.source(n.X)+" "+op.String()+" "+w.source(n.Y))
		}
	case *ast.IfStmt:
		if _, ok := n.Cond.(*ast.BinaryExpr); !ok {
			w.add(n.Cond.Pos(), n.Cond.End(), "!("+w.source(n.Cond)+")")
		}
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			w.add(n.Pos(), n.End(), map[string]string{"true": "false", "false": "true"}[n.Name])
		}
	case *ast.IncDecStmt:
		w.add(n.Pos(), n.End(), w.source(n.X)+map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok])
	case *ast.BranchStmt:
		if n.Tok == token.CONTINUE || n.Tok == token.BREAK {
			w.add(n.Pos(), n.End(), "")
		}
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok && !isLog(call) {
			w.add(n.Pos(), n.End(), "")
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && !isBlank(n.Lhs) {
			w.add(n.Pos(), n.End(), "")
		}
	}
	return true
}

// isLog reports whether a call writes to the log, or locks: neither is a rule. What
// a forgotten lock does, the race detector finds.
func isLog(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Debug", "Info", "Warn", "Error", "Lock", "Unlock", "RLock", "RUnlock"}, method.Sel.Name)
}

func isBlank(all []ast.Expr) bool {
	return !slices.ContainsFunc(all, func(e ast.Expr) bool { name, ok := e.(*ast.Ident); return !ok || name.Name != "_" })
}

// put writes the file of a fault, with it.
func (m mutant) put(to string) error {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return err
	}
	text = slices.Concat(text[:m.start], []byte(m.new), text[m.end:])
	if _, err := format.Source(text); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o666)
}
