package rules

import (
	"go/ast"
	"path"
	"strings"
)

// chanceTypes are what a test may name of math/rand/v2: types, in which a source is
// handed on.
var chanceTypes = map[string]bool{"Rand": true, "Source": true}

// checkChance wants the randomness of tests to come from native/nativetest/testkit, which says
// the seed of a failure and gives it back.
func checkChance(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	const remedy = "take it from fulmen/native/nativetest/testkit: Drawn, Fixed or Upto, and Source"
	var out []Problem
	for _, s := range all {
		if !s.isTest() || path.Dir(s.name) == "native/nativetest/testkit" {
			continue
		}
		for _, at := range []string{"math/rand", "testing/quick"} {
			if s.importName(at) != "" {
				out = append(out, Problem{File: s.name, What: "a test is random by " + at, Remedy: remedy})
			}
		}
		s.uses("math/rand/v2", nil, func(sel *ast.SelectorExpr) {
			if !chanceTypes[sel.Sel.Name] {
				out = append(out, Problem{File: s.name, Line: s.line(sel.Pos()), What: "a test is random by rand." + sel.Sel.Name, Remedy: remedy})
			}
		})
	}
	return out, nil
}

// checkBenchmarks wants every package with benchmarks to run them once in its tests.
func checkBenchmarks(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	first, run := map[string]Problem{}, map[string]bool{}
	for _, s := range all {
		dir := path.Dir(s.name)
		if !s.isTest() {
			continue
		}
		s.uses("fulmen/native/nativetest/testkit", nil, func(sel *ast.SelectorExpr) { run[dir] = run[dir] || sel.Sel.Name == "BenchmarksOnce" })
		run[dir] = run[dir] || dir == "native/nativetest/testkit"
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Benchmark") && first[dir] == (Problem{}) {
				first[dir] = Problem{
					File: s.name, Line: s.line(f.Pos()), What: "no test runs this benchmark",
					Remedy: "add func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) } to the package, of fulmen/native/nativetest/testkit",
				}
			}
		}
	}
	var out []Problem
	for dir, problem := range first {
		if !run[dir] {
			out = append(out, problem)
		}
	}
	return out, nil
}
