package rules

import (
	"go/ast"
	"go/token"
	"regexp"
)

// logMethods are the methods of slog.Logger whose first argument is the message.
var logMethods = map[string]bool{"Debug": true, "Info": true, "Warn": true, "Error": true}

// logger is what the values are called that the daemon logs to.
var logger = regexp.MustCompile(`(?i)^(log|logger|logs|part|complaints|with)$`)

// checkLogs refuses messages of the log that are no constant text: what varies is a
// value with a name.
func checkLogs(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, s := range all {
		if s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !logMethods[method.Sel.Name] || !logger.MatchString(lastName(method.X)) {
				return true
			}
			if text, ok := call.Args[0].(*ast.BasicLit); !ok || text.Kind != token.STRING {
				out = append(out, Problem{
					File: s.name, Line: s.line(call.Pos()), What: "the message of a log line is no literal",
					Remedy: "write a constant message, and what varies as a value with a name",
				})
			}
			return true
		})
	}
	return out, nil
}

// lastName is the name of a variable, a field, or the function that is called; empty
// where an expression has none.
func lastName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.CallExpr:
		return lastName(x.Fun)
	}
	return ""
}
