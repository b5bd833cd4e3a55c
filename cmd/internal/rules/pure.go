package rules

import (
	"go/ast"
	"path"
)

// clockFunctions are the functions of the package time that look at a clock or
// wait for one. The rest of it is arithmetic.
var clockFunctions = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true,
	"Tick": true, "NewTimer": true, "NewTicker": true,
}

// checkPure refuses the use of a clock in packages that only compute; what they import is
// checked with the layers.
func checkPure(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, s := range all {
		p := &goPackage{ImportPath: path.Join(module, path.Dir(s.name))}
		if s.isTest() || !matches(clockless, p) {
			continue
		}
		s.uses("time", clockFunctions, func(sel *ast.SelectorExpr) {
			out = append(out, Problem{
				File: s.name, Line: s.line(sel.Pos()), What: "time." + sel.Sel.Name + " in " + p.ImportPath + ", which only computes and takes no clock",
				Remedy: "take the time as an argument",
			})
		})
	}
	return out, nil
}
