package rules

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
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
				Remedy: "name it in cmd/internal/rules/layers.go: with owners if it writes facts, else with parts",
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
		Remedy: "turn the dependency round with an interface declared here, or move the code; the table is in cmd/internal/rules/layers.go",
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
