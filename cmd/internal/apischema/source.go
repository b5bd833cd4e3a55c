package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// source is what reflection cannot tell: comments, and constants in the order
// in which they are written.
type source struct {
	types  map[string]string            // by type
	fields map[string]map[string]string // by type and field
	blocks map[string][]block           // constants by file
}

// readSource parses the Go files of a folder, tests left out. It refuses constants
// that share a line, because their comment could be of either.
func readSource(dir string) (*source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	s := &source{types: map[string]string{}, fields: map[string]map[string]string{}, blocks: map[string][]block{}}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok {
				if err := s.declaration(fset, name, gen); err != nil {
					return nil, err
				}
			}
		}
	}
	return s, nil
}

func (s *source) declaration(fset *token.FileSet, file string, gen *ast.GenDecl) error {
	group := block{Doc: oneLine(gen.Doc)}
	for _, spec := range gen.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = gen.Doc.Text()
			if st, ok := spec.Type.(*ast.StructType); ok {
				s.fields[spec.Name.Name] = fieldDocs(st)
			}
		case *ast.ValueSpec:
			if gen.Tok != token.CONST || !spec.Names[0].IsExported() {
				continue
			}
			if len(spec.Names) != 1 || len(spec.Values) != 1 {
				return fmt.Errorf("%s: %s: one constant a line", file, spec.Names[0].Name)
			}
			c := constant{Name: spec.Names[0].Name, Doc: oneLine(spec.Doc)}
			if c.Doc == "" {
				c.Doc = group.Doc
			}
			if ident, ok := spec.Type.(*ast.Ident); ok {
				c.typ = ident.Name
			}
			var value bytes.Buffer
			if err := printer.Fprint(&value, fset, spec.Values[0]); err != nil {
				return err
			}
			c.Value = value.String()
			group.Consts = append(group.Consts, c)
		}
	}
	if len(group.Consts) > 0 {
		s.blocks[file] = append(s.blocks[file], group)
	}
	return nil
}

func fieldDocs(st *ast.StructType) map[string]string {
	docs := map[string]string{}
	for _, f := range st.Fields.List {
		for _, name := range f.Names {
			docs[name.Name] = oneLine(f.Doc)
		}
	}
	return docs
}

// Doc is a type's comment, with its paragraphs and diagrams.
func (s *source) Doc(t reflect.Type) string { return strings.TrimSpace(s.types[t.Name()]) }

// Blocks are the groups of constants of a file, by the file's base name.
func (s *source) Blocks(file string) []block { return s.blocks[file] }

// Words are the constants of an enum with their comments, by value.
func (s *source) Words(t reflect.Type) map[string]string {
	docs := map[string]string{}
	for _, blocks := range s.blocks {
		for _, b := range blocks {
			for _, c := range b.Consts {
				if c.typ == t.Name() {
					docs[strings.Trim(c.Value, `"`)] = withoutName(c.Name, c.Doc)
				}
			}
		}
	}
	return docs
}

// oneLine is a comment without its line breaks.
func oneLine(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }

// withoutName takes the name off the beginning of a comment and begins it with a capital.
func withoutName(name, doc string) string {
	doc = strings.TrimPrefix(strings.TrimPrefix(doc, name), ":")
	for _, verb := range []string{" is ", " are "} {
		doc = strings.TrimPrefix(doc, verb)
	}
	doc = strings.TrimSpace(doc)
	if doc == "" {
		return doc
	}
	return strings.ToUpper(doc[:1]) + doc[1:]
}
