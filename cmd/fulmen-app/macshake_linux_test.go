package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// kit is the path of darwinkit's module, and frameworks where its packages of
// Apple's frameworks lie: 200,000 lines that no test has the time to compile.
const (
	kit        = "github.com/progrium/darwinkit"
	frameworks = kit + "/macos/"
)

// shaker finds what of darwinkit's frameworks some files use, by names alone: it
// may keep too much, and never too little, which would not compile.
type shaker struct {
	files map[string][]*file // by package
	// live are names that are used, each after its package's path and a point, and
	// methods the names of methods, of whatever type.
	live    map[string]bool
	methods map[string]bool
	// whole are types whose methods are found by their names at run time.
	whole map[string]bool
	fset  *token.FileSet
	grew  bool
}

type file struct {
	base, pkg string
	text      []byte
	tree      *ast.File
	imports   map[string]string // the paths, by name
	kept      map[ast.Decl]bool
}

// shake gives the packages of darwinkit's frameworks, as far as the files given
// use them: each file by its path in darwinkit. source is darwinkit's folder.
func shake(source string, using []string) (map[string]string, error) {
	s := &shaker{files: map[string][]*file{}, live: map[string]bool{}, methods: map[string]bool{}, whole: map[string]bool{}, fset: token.NewFileSet()}
	for _, name := range using {
		f, err := s.parse(name, "")
		if err != nil {
			return nil, err
		}
		s.uses(f, f.tree)
	}
	for s.grew = true; s.grew; {
		s.grew = false
		for used := range s.live {
			pkg := used[:strings.LastIndexByte(used, '.')]
			if inside, ok := strings.CutPrefix(pkg, frameworks); ok && s.files[pkg] == nil {
				if err := s.load(pkg, filepath.Join(source, "macos", inside)); err != nil {
					return nil, err
				}
			}
		}
		for _, files := range s.files {
			for _, f := range files {
				s.mark(f)
			}
		}
	}
	made := map[string]string{}
	for pkg, files := range s.files {
		for _, f := range files {
			text, err := s.write(f)
			if err != nil {
				return nil, err
			}
			if text != "" {
				made[filepath.Join(strings.TrimPrefix(pkg, kit), f.base)] = text
			}
		}
	}
	return made, nil
}

// load parses a package. Its files that import C only have a compiler tell the
// runtime of protocols, which the imitation has in its table.
func (s *shaker) load(pkg, dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := s.parse(name, pkg)
		if err != nil {
			return err
		}
		if f.imports["C"] == "" {
			s.files[pkg] = append(s.files[pkg], f)
		}
	}
	s.grew = true
	return nil
}

func (s *shaker) parse(name, pkg string) (*file, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseFile(s.fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &file{base: filepath.Base(name), pkg: pkg, text: text, tree: tree, imports: map[string]string{}, kept: map[ast.Decl]bool{}}
	for _, i := range tree.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return nil, err
		}
		local := path[strings.LastIndexByte(path, '/')+1:]
		if i.Name != nil {
			local = i.Name.Name
		}
		f.imports[local] = path
	}
	return f, nil
}

// mark keeps the declarations of a file that are used, and what those use.
func (s *shaker) mark(f *file) {
	for _, d := range f.tree.Decls {
		if f.kept[d] {
			s.interfaces(f, d)
			continue
		}
		if s.isUsed(f, d) {
			f.kept[d] = true
			s.grew = true
			s.uses(f, d)
		}
	}
}

func (s *shaker) isUsed(f *file, d ast.Decl) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return s.live[f.pkg+"."+d.Name.Name]
		}
		owner := f.pkg + "." + receiver(d.Recv.List[0].Type)
		return s.live[owner] && (s.methods[d.Name.Name] || s.whole[owner])
	case *ast.GenDecl:
		return slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				return s.live[f.pkg+"."+spec.Name.Name]
			case *ast.ValueSpec:
				return slices.ContainsFunc(spec.Names, func(n *ast.Ident) bool { return s.live[f.pkg+"."+n.Name] })
			}
			return false
		})
	}
	return false
}

// receiver is the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// uses notes what a part of a file names.
func (s *shaker) uses(f *file, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				if len(m.Names) == 0 {
					s.uses(f, m.Type)
				}
			}
			return f.pkg == "" // those of the files that use it are whole
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && f.imports[x.Name] != "" {
				name := f.imports[x.Name] + "." + n.Sel.Name
				s.add(s.live, name)
				if f.pkg == "" && strings.HasSuffix(name, "Delegate") {
					s.add(s.whole, name)
				}
				return false
			}
			s.add(s.methods, n.Sel.Name)
			s.uses(f, n.X)
			return false
		case *ast.Ident:
			s.add(s.live, f.pkg+"."+n.Name)
		}
		return true
	})
}

// interfaces notes what the methods of a kept interface use, as far as anything
// calls them.
func (s *shaker) interfaces(f *file, d ast.Decl) {
	for _, m := range methodsOf(d) {
		if s.methods[m.Names[0].Name] {
			s.uses(f, m.Type)
		}
	}
}

// methodsOf are the methods that the interfaces of a declaration list.
func methodsOf(d ast.Decl) (all []*ast.Field) {
	gen, ok := d.(*ast.GenDecl)
	if !ok || gen.Tok != token.TYPE {
		return nil
	}
	for _, spec := range gen.Specs {
		if i, ok := spec.(*ast.TypeSpec).Type.(*ast.InterfaceType); ok {
			for _, m := range i.Methods.List {
				if len(m.Names) == 1 {
					all = append(all, m)
				}
			}
		}
	}
	return all
}

func (s *shaker) add(to map[string]bool, name string) {
	if !to[name] {
		to[name] = true
		s.grew = true
	}
}

// write gives what is kept of a file, in darwinkit's own text; empty: nothing is.
func (s *shaker) write(f *file) (string, error) {
	var text bytes.Buffer
	names := map[string]bool{}
	for _, d := range f.tree.Decls {
		if !f.kept[d] {
			continue
		}
		at := d.Pos()
		for _, m := range methodsOf(d) {
			if !s.methods[m.Names[0].Name] {
				s.copy(&text, f, at, m.Pos())
				at = m.End()
			}
		}
		s.copy(&text, f, at, d.End())
		text.WriteString("\n\n")
	}
	if text.Len() == 0 {
		return "", nil
	}
	kept, err := parser.ParseFile(token.NewFileSet(), f.base, "package p\n"+text.String(), parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	ast.Inspect(kept, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok {
				names[x.Name] = true
			}
		}
		return true
	})
	head := "package " + f.tree.Name.Name + "\n\n"
	for _, local := range slices.Sorted(maps.Keys(f.imports)) { // in the same order each time
		if names[local] {
			head += "import " + local + " " + strconv.Quote(f.imports[local]) + "\n"
		}
	}
	return head + text.String(), nil
}

func (s *shaker) copy(to *bytes.Buffer, f *file, from, till token.Pos) {
	to.Write(f.text[s.fset.Position(from).Offset:s.fset.Position(till).Offset])
}
