package rules

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

const commentRemedy = "say what it is for: units, range, errors, and the source where it is a fact"

// checkComments asks for a comment on every package and every exported
// identifier, interface methods included. Struct fields are left to the comment
// of their type: a comment on a field whose name says it all is noise. Commands
// need a package comment only.
func checkComments(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	folders, files := byFolder(all)
	var out []Problem
	for _, dir := range folders {
		out = append(out, packageComment(dir, files[dir])...)
		for _, s := range files[dir] {
			if s.file.Name.Name == "main" || ast.IsGenerated(s.file) {
				continue
			}
			c := commentCheck{source: s}
			c.run()
			out = append(out, c.out...)
		}
	}
	return out, nil
}

// packageComment wants one file of dir to have a package comment.
func packageComment(dir string, files []source) []Problem {
	for _, s := range files {
		if s.file.Doc.Text() != "" {
			return nil
		}
	}
	return []Problem{{
		File: files[0].name, Line: files[0].line(files[0].file.Package),
		What:   fmt.Sprintf("package %s has no package comment", files[0].file.Name.Name),
		Remedy: "add " + dir + "/doc.go that says what the package owns, reads and publishes",
	}}
}

// commentCheck walks the declarations of one file.
type commentCheck struct {
	source
	out []Problem
}

func (c *commentCheck) run() {
	for _, d := range c.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			c.habit(d)
			if d.Name.IsExported() && receiverExported(d) {
				c.want(d.Name, "", d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				c.spec(d, spec)
			}
		}
	}
}

// possessive is a comment that only names the interface, in words of its own.
var possessive = regexp.MustCompile(`^\w+ is the [\w.]+'s\.\n?$`)

// habit wants a function's comment to follow Go's own habit: who must hold a lock is in
// the name, and a method that satisfies an interface says so as the standard library does.
func (c *commentCheck) habit(d *ast.FuncDecl) {
	text, name := d.Doc.Text(), d.Name.Name
	what, remedy := "", ""
	switch {
	case strings.Contains(strings.Join(strings.Fields(text), " "), "caller holds mu") && !strings.HasSuffix(name, "Locked"):
		what, remedy = name+" is called under a lock, which its name does not say", "call it "+name+"Locked, and say no more of the lock"
	case possessive.MatchString(text):
		what, remedy = "the comment of "+name+" names an interface in words of its own", `write "`+name+` implements the interface's name."`
	default:
		return
	}
	c.out = append(c.out, Problem{File: c.name, Line: c.line(d.Pos()), What: what, Remedy: remedy})
}

// spec checks a type, constant or variable. One comment over a group of
// constants or variables speaks for all of them.
func (c *commentCheck) spec(d *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if !spec.Name.IsExported() {
			return
		}
		doc := spec.Doc
		if d.Lparen == token.NoPos {
			doc = d.Doc
		}
		c.want(spec.Name, "", doc, spec.Comment)
		if typ, ok := spec.Type.(*ast.InterfaceType); ok {
			c.methods(spec.Name.Name, typ.Methods)
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() {
				c.want(name, "", spec.Doc, spec.Comment, d.Doc)
			}
		}
	}
}

// methods checks an interface. A comment speaks for the method below it and for
// those that follow on the very next lines.
func (c *commentCheck) methods(owner string, list *ast.FieldList) {
	covered := 0
	for _, f := range list.List {
		if f.Doc.Text() != "" || c.line(f.Pos()) == covered+1 {
			covered = c.line(f.End())
			continue
		}
		for _, name := range f.Names {
			if name.IsExported() {
				c.want(name, owner+".", f.Comment)
			}
		}
	}
}

func (c *commentCheck) want(name *ast.Ident, prefix string, groups ...*ast.CommentGroup) {
	for _, g := range groups {
		if g.Text() != "" {
			return
		}
	}
	c.out = append(c.out, Problem{
		File: c.name, Line: c.line(name.Pos()),
		What: prefix + name.Name + " has no doc comment", Remedy: commentRemedy,
	})
}

// receiverExported reports whether d is a function or a method of an exported
// type: methods of private types are not part of what others can name.
func receiverExported(d *ast.FuncDecl) bool {
	of := receiver(d)
	return of == nil || of.IsExported()
}

// receiver is the name of a method's type; nil for a function.
func receiver(d *ast.FuncDecl) *ast.Ident {
	if d.Recv == nil {
		return nil
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.ParenExpr:
			typ = x.X
		case *ast.Ident:
			return x
		default:
			return nil
		}
	}
}
