package rules

import "go/ast"

var (
	sleeping = map[string]bool{"Sleep": true}
	ticking  = map[string]bool{"NewTicker": true, "Tick": true}
)

// checkTiming refuses time.Sleep in tests, except on virtual time in plain sight
// of synctest.Test, and tickers without a comment on the line above that says why
// nothing announces what they look for.
func checkTiming(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, s := range all {
		if s.isTest() {
			s.uses("time", sleeping, func(sel *ast.SelectorExpr) {
				if s.virtual(sel.Pos()) {
					return
				}
				out = append(out, Problem{
					File: s.name, Line: s.line(sel.Pos()), What: "a test sleeps",
					Remedy: "wait for the event itself, or sleep on virtual time, inside the function given to synctest.Test or beside a synctest.Wait",
				})
			})
		}
		commented := map[int]bool{}
		for _, g := range s.file.Comments {
			commented[s.line(g.End())] = true
		}
		s.uses("time", ticking, func(sel *ast.SelectorExpr) {
			if line := s.line(sel.Pos()); !commented[line-1] {
				out = append(out, Problem{
					File: s.name, Line: line, What: "time." + sel.Sel.Name + " without a comment on the line above",
					Remedy: "say there why nothing announces this, or wait for the event",
				})
			}
		})
	}
	return out, nil
}
