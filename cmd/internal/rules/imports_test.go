package rules

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// checkImports checks the table of layers on every platform.
func checkImports(t *Tree) ([]Problem, error) {
	var out []Problem
	seen := map[Problem]bool{}
	for _, p := range platforms {
		packages, err := t.build(p)
		if err != nil {
			return nil, err
		}
		for _, problem := range append(unplaced(packages), brokenLayers(layers(), packages)...) {
			if !seen[problem] {
				seen[problem] = true
				out = append(out, problem)
			}
		}
	}
	return out, nil
}

// unplaced lists the packages of the daemon that are neither owners nor parts,
// each reported at the folder that is not in the table.
func unplaced(packages map[string]*goPackage) []Problem {
	const inside = module + "/daemon/internal/"
	folders := map[string]bool{}
	for name := range packages {
		if rest, ok := strings.CutPrefix(name, inside); ok {
			first, _, _ := strings.Cut(rest, "/")
			folders[first] = true
		}
	}
	var out []Problem
	for _, f := range slices.Sorted(maps.Keys(folders)) {
		if !slices.Contains(owners, f) && !slices.Contains(parts, f) {
			out = append(out, Problem{
				File: "daemon/internal/" + f, What: "has no place among the import directions",
				Remedy: "name it in cmd/internal/rules/layers_test.go: with owners if it writes facts, else with parts",
			})
		}
	}
	return out
}

// brokenLayers lists the imports of packages that break a layer of table. Each
// is reported at the import statement where the way to it starts.
func brokenLayers(table []layer, packages map[string]*goPackage) []Problem {
	var names []string
	for name, p := range packages {
		if p.own() {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	var out []Problem
	for _, l := range table {
		for _, name := range names {
			if matches(l.from, packages[name]) && !matches(l.except, packages[name]) {
				out = append(out, l.check(packages, name)...)
			}
		}
	}
	return out
}

// check follows the imports of the package from, breadth first, so that the way
// shown is the shortest, and stops at a package that may not be there.
func (l layer) check(packages map[string]*goPackage, from string) []Problem {
	var out []Problem
	seen := map[string]bool{from: true}
	queue := [][]string{{from}}
	for len(queue) > 0 {
		way := queue[0]
		queue = queue[1:]
		last := packages[way[len(way)-1]]
		if last == nil || last.Standard {
			continue
		}
		for _, next := range last.Imports {
			if seen[next] {
				continue
			}
			seen[next] = true
			hop := append(slices.Clone(way), next)
			if l.forbids(packages, next, len(hop) == 2) {
				out = append(out, l.problem(packages, hop))
			} else if !l.direct {
				queue = append(queue, hop)
			}
		}
	}
	return out
}

// forbids reports whether the layer refuses a dependency on name. What another
// module needs in turn is that module's affair: only is asked of this module's
// packages there.
func (l layer) forbids(packages map[string]*goPackage, name string, direct bool) bool {
	p := packages[name]
	if p == nil {
		p = &goPackage{ImportPath: name, Standard: standardLooking(name)}
	}
	switch {
	case matches(l.but, p):
		return false
	case matches(l.never, p):
		return true
	case len(l.only) > 0 && (direct || p.own()):
		return !matches(l.only, p)
	}
	return false
}

func (l layer) problem(packages map[string]*goPackage, way []string) Problem {
	at := packages[way[0]].at[way[1]]
	verb := "imports"
	if len(way) > 2 {
		verb = "depends on"
	}
	what := fmt.Sprintf("%s %s %s", way[0], verb, way[len(way)-1])
	if len(way) > 2 {
		what += " by way of " + strings.Join(way[1:len(way)-1], ", ")
	}
	return Problem{
		File: at.File, Line: at.Line, What: what + ", which it must not: " + l.reason,
		Remedy: "turn the dependency round with an interface declared here, or move the code; the table is in cmd/internal/rules/layers_test.go",
	}
}

// matches reports whether one of patterns covers p.
func matches(patterns []string, p *goPackage) bool {
	for _, pat := range patterns {
		base, below := strings.CutSuffix(pat, "/...")
		switch {
		case pat == "std" && p.Standard,
			pat == "external" && !p.Standard && !p.own(),
			pat == p.ImportPath,
			below && within(base, p.ImportPath):
			return true
		}
	}
	return false
}

// within reports whether name is base or lies below it.
func within(base, name string) bool {
	return name == base || strings.HasPrefix(name, base+"/")
}

// standardLooking judges a package that the go command did not describe: only
// other modules' paths have a dot in their first element.
func standardLooking(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".") && !within(module, name)
}

// graph makes packages from lines "package: import import"; every import stands
// at line 1 of a file named after the package.
func graph(text string) map[string]*goPackage {
	all := map[string]*goPackage{}
	for l := range strings.Lines(text) {
		name, imports, ok := strings.Cut(strings.TrimSpace(l), ":")
		if !ok {
			continue
		}
		p := &goPackage{ImportPath: name, Imports: strings.Fields(imports), Standard: standardLooking(name), at: map[string]Problem{}}
		for _, imp := range p.Imports {
			p.at[imp] = Problem{File: name + "/x.go", Line: 1}
		}
		all[name] = p
	}
	return all
}

func TestLayers(t *testing.T) {
	tests := []struct {
		name  string
		graph string
		want  []string // beginnings of what is reported, in order
	}{
		{"the worker binds MLX", `
			fulmen/cmd/fulmen-rank: fulmen/mlxbridge fulmen/daemon/api/worker
			fulmen/cmd/internal/bench: fulmen/mlxbridge
			fulmen/mlxbridge: C unsafe os
			fulmen/mlxbridge/dtype: fulmen/mlxbridge`, nil},
		{"the daemon does not, at any distance", `
			fulmen/cmd/fulmend: fulmen/daemon
			fulmen/daemon: fulmen/daemon/internal/profile
			fulmen/daemon/internal/profile: fulmen/mlxbridge/dtype
			fulmen/mlxbridge/dtype: fulmen/mlxbridge`, []string{
			"fulmen/cmd/fulmend depends on fulmen/mlxbridge/dtype by way of fulmen/daemon, fulmen/daemon/internal/profile",
			"fulmen/daemon depends on fulmen/mlxbridge/dtype by way of fulmen/daemon/internal/profile",
			"fulmen/daemon/internal/profile imports fulmen/mlxbridge/dtype",
		}},
		{"a name that only begins alike is another package", `
			fulmen/cmd/fulmen-ranking: fulmen/mlxbridge`, []string{"fulmen/cmd/fulmen-ranking imports fulmen/mlxbridge"}},
		{"the contract needs the standard library only", `
			fulmen/daemon/api: encoding/json
			fulmen/daemon/api/worker: fulmen/daemon/api github.com/x/y fulmen/native C
			encoding/json: reflect`, []string{
			"fulmen/daemon/api/worker imports github.com/x/y",
			"fulmen/daemon/api/worker imports fulmen/native",
			"fulmen/daemon/api/worker imports C",
		}},
		{"platforms and the binding know nobody", `
			fulmen/native/linux: fulmen/native fulmen/daemon/api
			fulmen/native: os
			fulmen/mlxbridge: fulmen/daemon/api
			fulmen/daemon/api: fmt`, []string{
			"fulmen/native/linux imports fulmen/daemon/api",
			"fulmen/mlxbridge imports fulmen/daemon/api",
		}},
		{"clients use the public API", `
			fulmen/cmd/fulmen: fulmen/daemon/api fulmen/daemon/client fulmen/daemon
			fulmen/app/mac: github.com/progrium/darwinkit/macos fulmen/native
			fulmen/daemon/client: fulmen/daemon/api
			fulmen/daemon/api: fmt`, []string{
			"fulmen/app/mac imports fulmen/native",
			"fulmen/cmd/fulmen imports fulmen/daemon",
		}},
		{"owners do not know each other", `
			fulmen/daemon/internal/job: fulmen/daemon/internal/grant/lease fulmen/daemon/internal/job/log fulmen/daemon/internal/ledger
			fulmen/daemon/internal/rank: fulmen/daemon/internal/server`, []string{
			"fulmen/daemon/internal/rank imports fulmen/daemon/internal/server",
			"fulmen/daemon/internal/job imports fulmen/daemon/internal/grant/lease",
		}},
		{"not even by way of a part", `
			fulmen/daemon/internal/job: fulmen/daemon/internal/ledger
			fulmen/daemon/internal/ledger: fulmen/daemon/internal/rdma`, []string{
			"fulmen/daemon/internal/ledger imports fulmen/daemon/internal/rdma",
			"fulmen/daemon/internal/job depends on fulmen/daemon/internal/rdma by way of fulmen/daemon/internal/ledger",
		}},
		{"pure packages do no I/O themselves", `
			fulmen/app: fmt net/netip fulmen/daemon/api
			fulmen/app/tray: os fyne.io/systray
			fulmen/daemon/internal/placement: os/exec net/http fulmen/daemon/internal/topology fulmen/daemon/internal/ledger
			fmt: os`, []string{
			"fulmen/daemon/internal/placement imports fulmen/daemon/internal/ledger",
			"fulmen/daemon/internal/placement imports os/exec",
			"fulmen/daemon/internal/placement imports net/http",
		}},
		{"toolkits have one place", `
			fulmen/cmd/fulmen-app: fyne.io/systray fulmen/app/tray
			fulmen/app/tray: fyne.io/systray
			fulmen/native/darwin: github.com/progrium/darwinkit/objc
			fulmen/native/darwin/objc: github.com/progrium/darwinkit/objc`, []string{
			"fulmen/cmd/fulmen-app imports fyne.io/systray",
			"fulmen/native/darwin imports github.com/progrium/darwinkit/objc",
		}},
		{"tools are not shipped", `
			fulmen/cmd/internal/bundle: fulmen/cmd/internal/bundle/layout
			fulmen/cmd/fulmen: fulmen/cmd/internal/bundle/layout`, []string{"fulmen/cmd/fulmen imports fulmen/cmd/internal/bundle/layout"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			problems := brokenLayers(layers(), graph(tt.graph))
			var got []string
			for _, p := range problems {
				is.True(strings.HasSuffix(p.File, "/x.go") && p.Line == 1) // at the import statement
				text, _, _ := strings.Cut(p.What, ", which it must not")
				got = append(got, text)
			}
			is.Equal(got, tt.want)
		})
	}
}

func TestEveryPartOfTheDaemonHasItsPlace(t *testing.T) {
	is := is.New(t)
	is.Equal(len(unplaced(graph("fulmen/daemon/internal/job/phase: fmt\nfulmen/daemon/internal/ledger: fmt"))), 0)
	is.Equal(places(unplaced(graph("fulmen/daemon/internal/misc/deep: fmt"))), []string{"daemon/internal/misc:0"})
	for _, o := range owners {
		is.True(!slices.Contains(parts, o)) // an owner is not a part as well
	}
}

// TestTheListedGraphIsReal guards against a check that passes because it saw
// nothing.
func TestTheListedGraphIsReal(t *testing.T) {
	is := is.New(t)
	tree, err := findTree()
	is.NoErr(err)
	packages, err := tree.build(platform{goos: "darwin", goarch: "arm64"})
	is.NoErr(err)
	p := packages["fulmen/cmd/internal/bundle/inspect"]
	is.True(p != nil)
	is.Equal(p.at["debug/buildinfo"].File, "cmd/internal/bundle/inspect/programs.go")
	is.True(packages["debug/buildinfo"].Standard)
	caught := layer{from: []string{"fulmen/cmd/internal/bundle"}, never: []string{"debug/buildinfo"}}
	problems := brokenLayers([]layer{caught}, packages)
	is.Equal(places(problems), []string{"cmd/internal/bundle/main.go:18"})
}
