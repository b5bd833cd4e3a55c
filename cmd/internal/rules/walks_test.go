package rules

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"strings"
	"testing"
)

// architecture is the document that draws walks through the code.
const architecture = "docs/architecture.md"

// walksHeading begins the section with the walks.
const walksHeading = "## Two walks"

// walk is the way of one fact through the code, as a table of the document.
type walk struct {
	// heading is that of its table.
	heading string
	// most is how many files it may go through.
	most int
}

// walks are those that are drawn.
func walks() []walk {
	return []walk{{"### A cable is pulled", 24}, {"### A program is run", 45}}
}

var (
	walkRow    = regexp.MustCompile("^\\| `([^`]+)` \\| (.*) \\| [^|]+ \\|$")
	walkName   = regexp.MustCompile("^`([^` ]+)`$")
	walkCounts = regexp.MustCompile(`^(\d+) files; `)
)

// checkWalks follows the walks: each file is there, declares what is named beside it, and
// they are no more than a walk may have.
func checkWalks(t *Tree) ([]Problem, error) { return walksOf(t, walks()) }

func walksOf(t *Tree, all []walk) ([]Problem, error) {
	document, err := t.lines(architecture)
	if err != nil {
		return nil, err
	}
	declared, err := t.declared()
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, w := range all {
		rows, heading := w.rows(document)
		problem := func(no int, format string, args ...any) {
			out = append(out, Problem{
				File: architecture, Line: no, What: fmt.Sprintf(format, args...),
				Remedy: "follow the walk in the code, and correct " + architecture,
			})
		}
		if heading == 0 {
			problem(0, "there is no %q with rows in the section %q", w.heading, walksHeading)
			continue
		}
		files, counted := map[string]bool{}, 0
		for _, l := range rows {
			if n := walkCounts.FindStringSubmatch(l.text); n != nil {
				if counted++; n[1] != fmt.Sprint(len(files)) {
					problem(l.no, "the walk is said to go through %s files, and has %d", n[1], len(files))
				}
				continue
			}
			row := walkRow.FindStringSubmatch(l.text)
			if row == nil && strings.HasPrefix(l.text, "| `") {
				problem(l.no, "the row is not \"| `file` | `name`, `name` | what happens |\"")
			}
			if row == nil {
				continue
			}
			file := row[1]
			if files[file] {
				problem(l.no, "%s has two rows", file)
			}
			files[file] = true
			if !t.has(file) {
				problem(l.no, "%s is not there", file)
				continue
			}
			for _, name := range strings.Split(row[2], ", ") {
				word := walkName.FindStringSubmatch(name)
				switch is, err := declared.by(t, file, word); {
				case err != nil:
					return nil, err
				case !is:
					problem(l.no, "%s declares no %s", file, name)
				}
			}
		}
		if counted != 1 {
			problem(heading, "%d lines after the rows count the files, as \"%d files; ...\"", counted, len(files))
		}
		if len(files) > w.most {
			problem(heading, "the walk goes through %d files, and may through %d", len(files), w.most)
		}
	}
	return out, nil
}

// rows gives the lines below a walk's heading, and the number of that line; 0 where there
// is none.
func (w walk) rows(document []line) (rows []line, heading int) {
	inside := false
	for _, l := range document {
		switch {
		case strings.HasPrefix(l.text, "## "), strings.HasPrefix(l.text, "### ") && heading > 0:
			if heading > 0 {
				return rows, heading
			}
			inside = l.text == walksHeading
		case inside && l.text == w.heading:
			heading = l.no
		case heading > 0:
			rows = append(rows, l)
		}
	}
	return rows, heading
}

// declarations are the names that Go files declare at their top: of a method with its
// type before it, also where an interface has it.
type declarations map[string]map[string]bool

// declared lists those of all packages.
func (t *Tree) declared() (declarations, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	out := declarations{}
	for _, s := range all {
		names := map[string]bool{}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if of := receiver(d); of != nil {
					name = of.Name + "." + name
				}
				names[name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					addSpec(names, spec)
				}
			}
		}
		out[s.name] = names
	}
	return out, nil
}

func addSpec(names map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range spec.Names {
			names[n.Name] = true
		}
	case *ast.TypeSpec:
		names[spec.Name.Name] = true
		if i, is := spec.Type.(*ast.InterfaceType); is {
			for _, m := range i.Methods.List {
				for _, n := range m.Names {
					names[spec.Name.Name+"."+n.Name] = true
				}
			}
		}
	}
}

// by reports whether a file declares what a row names; of C, whether the name is
// followed by a parenthesis there. word is nil where the row has no name in that place.
func (d declarations) by(t *Tree, file string, word []string) (bool, error) {
	if word == nil {
		return false, nil
	}
	if path.Ext(file) == ".go" {
		return d[file][word[1]], nil
	}
	text, err := t.read(file)
	if err != nil {
		return false, err
	}
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word[1]) + `\(`).Match(text), nil
}

// walkFiles is a small repository whose document draws one walk by these lines.
func walkFiles(rows string) map[string]string {
	return map[string]string{
		"docs/architecture.md": "# A\n\n| `gone.go` | `before` | the section |\n\n## Two walks\n\n### Short\n\n| file | by | what happens |\n| --- | --- | --- |\n" + rows +
			"\n### Other\n\n| `gone.go` | `other` | walk |\n\n## More\n\n### Short\n\n| `gone.go` | `after` | the section |\n",
		"a/a.go":          "package a\n\ntype T[E any] struct{}\n\nfunc (*T[E]) M() { local() }\n\nfunc F() {}\n\ntype I interface{ N() }\n\nconst C, D = 1, 2\n",
		"a/b.go":          "package a\n\nfunc (t U) M() {}\n",
		"native/x/x.c":    "static int put_it(int x) { return x; }\n// putty is only told of here\n",
		"app/x.svelte":    "",
		"a/testdata/t.go": "package t\n\nfunc T() {}\n",
	}
}

func TestWalksAreFollowed(t *testing.T) {
	short := func(most int) func(*Tree) ([]Problem, error) {
		return func(t *Tree) ([]Problem, error) { return walksOf(t, []walk{{"### Short", most}}) }
	}
	at := func(lines ...string) []string {
		var out []string
		for _, l := range lines {
			out = append(out, architecture+":"+l)
		}
		return out
	}
	const one, two = "| `a/a.go` | `F`, `T`, `T.M`, `I.N`, `D` | it goes |\n", "| `native/x/x.c` | `put_it` | and on |\n"
	runCases(t, []checkCase{
		{"as the code is", short(2), walkFiles(one + two + "\n2 files; and more\n"), nil},
		{"a file that is gone", short(2), walkFiles("| `a/gone.go` | `F` | it goes |\n\n1 files; \n"), at("11")},
		{"names that are not declared", short(1), walkFiles("| `a/a.go` | `F`, `local`, `T.N`, `U.M` | it goes |\n\n1 files; \n"), at("11", "11", "11")},
		{"a method without its type", short(1), walkFiles("| `a/a.go` | `M` | it goes |\n\n1 files; \n"), at("11")},
		{"a name of another file", short(1), walkFiles("| `a/b.go` | `U.M`, `F` | it goes |\n\n1 files; \n"), at("11")},
		{"a word of C that is no function", short(1), walkFiles("| `native/x/x.c` | `put_it`, `putty`, `put` | it goes |\n\n1 files; \n"), at("11", "11")},
		{"what is no name", short(1), walkFiles("| `a/a.go` | `F` and `D` | it goes |\n\n1 files; \n"), at("11")},
		{"a row without words", short(2), walkFiles(one + "| `native/x/x.c` | `put_it` | |\n\n1 files; \n"), at("12")},
		{"a file twice", short(2), walkFiles(one + one + "\n1 files; \n"), at("12")},
		{"a wrong count", short(2), walkFiles(one + two + "\n3 files; \n"), at("14")},
		{"no count", short(2), walkFiles(one), at("7")},
		{"a walk that has become longer", short(1), walkFiles(one + two + "\n2 files; \n"), at("7")},
		{"no walk", func(t *Tree) ([]Problem, error) { return walksOf(t, []walk{{"### Long", 1}}) }, walkFiles(one), at("0")},
	})
}
