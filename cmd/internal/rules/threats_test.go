package rules

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// threatModel is the document that says who could attack, and by what.
const threatModel = "docs/threat-model.md"

// exposed is a list of the threat model: everything that the bytes of somebody whom
// nobody knows pass through before it is known who they are.
type exposed struct {
	// list is how the list is marked in the document.
	list string
	// roots are the packages that read first. What they import of this module, and of
	// others, is in the list too.
	roots []string
	// leaves are packages that read too, but whose other imports have no part in it, and
	// other modules that they read with.
	leaves []string
}

func exposedLists() []exposed {
	return []exposed{
		{
			list:   "network",
			roots:  []string{"fulmen/daemon/internal/cluster/transport", "fulmen/daemon/internal/cluster/pairing", "fulmen/daemon/internal/cluster/discover"},
			leaves: []string{"fulmen/native/linux", "fulmen/native/darwin", "github.com/miekg/dns", "fulmen/daemon/internal/endpoint"},
		}, {
			list:   "machine",
			roots:  []string{"fulmen/daemon/internal/server"},
			leaves: []string{"fulmen/daemon/internal/endpoint"},
		},
	}
}

// checkThreats wants each list to be what the imports say: a package that comes to be
// exposed is noticed, and thought about.
func checkThreats(t *Tree) ([]Problem, error) {
	document, err := t.lines(threatModel)
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, e := range exposedLists() {
		named := listed(document, e.list)
		needed := map[string]bool{}
		for _, leaf := range e.leaves {
			needed[strings.TrimPrefix(leaf, module+"/")] = true
		}
		for _, goos := range []string{"linux", "darwin"} {
			packages, err := list(t.root, []string{"GOOS=" + goos, "CGO_ENABLED=0"}, append([]string{"-deps"}, e.roots...)...)
			if err != nil {
				return nil, err
			}
			for _, p := range packages {
				switch {
				case p.Standard:
				case p.own():
					needed[strings.TrimPrefix(p.ImportPath, module+"/")] = true
				default:
					needed[moduleOf(p.ImportPath)] = true
				}
			}
		}
		out = append(out, e.differences(needed, named)...)
	}
	return out, nil
}

// differences compares what a list needs with the names in it, by their lines.
func (e exposed) differences(needed map[string]bool, named map[string]int) []Problem {
	var out []Problem
	for _, name := range slices.Sorted(maps.Keys(needed)) {
		if named[name] == 0 {
			out = append(out, Problem{
				File: threatModel, What: name + " is not in the list " + e.list + ", though strangers' bytes come to it",
				Remedy: "keep it out of that path, or say there what it does with them",
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if !needed[name] {
			out = append(out, Problem{
				File: threatModel, Line: named[name], What: name + " is in the list " + e.list + ", and strangers' bytes do not come to it",
				Remedy: "take it out",
			})
		}
	}
	return out
}

var listRow = regexp.MustCompile("^\\| `([^`]+)` \\|")

// listed gives the names in a marked list of a document, with their lines.
func listed(document []line, name string) map[string]int {
	named := map[string]int{}
	inside := false
	for _, l := range document {
		switch {
		case strings.Contains(l.text, "<!-- exposed: "+name+" -->"):
			inside = true
		case strings.Contains(l.text, "<!-- end -->"):
			inside = false
		case inside:
			if row := listRow.FindStringSubmatch(l.text); row != nil {
				named[row[1]] = l.no
			}
		}
	}
	return named
}

// moduleOf is the module of a package of another one, by the hosts that are used here:
// github.com/OWNER/NAME and golang.org/x/NAME.
func moduleOf(importPath string) string {
	parts := strings.SplitN(importPath, "/", 4)
	return strings.Join(parts[:min(3, len(parts))], "/")
}

func TestListed(t *testing.T) {
	is := is.New(t)
	document := []line{
		{1, "| `before` | no |"}, {2, "<!-- exposed: network -->"}, {3, "| package | what |"}, {4, "| `daemon/api` | types |"},
		{5, "a `word` | in a sentence |"}, {6, "| `github.com/a/b` | more |"}, {7, "<!-- end -->"}, {8, "| `after` | no |"},
		{9, "<!-- exposed: machine -->"}, {10, "| `other` | no |"},
	}
	named := listed(document, "network")
	is.Equal(named, map[string]int{"daemon/api": 4, "github.com/a/b": 6})
	is.Equal(len(listed(document, "nobody")), 0)

	e := exposed{list: "network"}
	is.Equal(len(e.differences(map[string]bool{"daemon/api": true, "github.com/a/b": true}, named)), 0)
	wrong := e.differences(map[string]bool{"daemon/api": true, "native/new": true}, named)
	is.Equal(len(wrong), 2)
	is.Equal(wrong[0].What, "native/new is not in the list network, though strangers' bytes come to it")
	is.Equal(wrong[1].Line, 6)
}

func TestModuleOf(t *testing.T) {
	is := is.New(t)
	is.Equal(moduleOf("github.com/a/b/internal/c"), "github.com/a/b")
	is.Equal(moduleOf("golang.org/x/sys/unix"), "golang.org/x/sys")
	is.Equal(moduleOf("short/path"), "short/path")
}
