package rules

import "go/ast"

// initReasons lists the files that may have an init function, each with the
// reason why nothing else will do.
var initReasons = map[string]string{}

// checkInit refuses init functions, and exceptions that nobody uses any more.
func checkInit(t *Tree) ([]Problem, error) {
	return inits(t, initReasons)
}

func inits(t *Tree, allowed map[string]string) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	var out []Problem
	used := map[string]bool{}
	for _, s := range all {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || f.Name.Name != "init" {
				continue
			}
			used[s.name] = true
			if allowed[s.name] == "" {
				out = append(out, Problem{
					File: s.name, Line: s.line(f.Pos()), What: "init function",
					Remedy: "do the work in a function that the caller calls, or give the reason in cmd/internal/rules/inits_test.go",
				})
			}
		}
	}
	for name := range allowed {
		if !used[name] {
			out = append(out, Problem{
				File: name, What: "is allowed an init function and has none",
				Remedy: "take it out of cmd/internal/rules/inits_test.go",
			})
		}
	}
	return out, nil
}
