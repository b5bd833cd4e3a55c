package rules

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// errorName is what variables are called that hold an error.
var errorName = regexp.MustCompile(`^(err|problem|failed|panicked|[a-z]+Err)$`)

// owedReplies are the replies of before the rule that still quote an error as it is,
// by file. They may become fewer only.
var owedReplies = map[string]int{
	"daemon/internal/rdma/fault.go": 1, // what the system's configuration of networks says has no other words yet
}

// checkReplies refuses sentences for people that quote an error of Go or of a library
// as it is: it names functions and memory, and no next step.
func checkReplies(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, s := range all {
		if s.isTest() || strings.HasPrefix(s.name, "cmd/internal/") {
			continue
		}
		var found []Problem
		ast.Inspect(s.file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && strings.Contains(text.Value, "runtime error") {
				out = append(out, Problem{File: s.name, Line: s.line(n.Pos()), What: "a text quotes a panic of Go", Remedy: "say what it means for a person, and log the rest"})
			}
			if call, ok := n.(*ast.CallExpr); ok && quotesError(call) {
				found = append(found, Problem{
					File: s.name, Line: s.line(call.Pos()), What: "a reply quotes an error as it is",
					Remedy: "say in words what happened, add what the system said with api.Said, and keep the rest for the log with From",
				})
			}
			return true
		})
		if len(found) > owedReplies[s.name] {
			out = append(out, found...)
		}
	}
	return out, nil
}

// quotesError reports whether a call is api.Errorf with an error for its verb v or s.
func quotesError(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != "Errorf" || lastName(method.X) != "api" || len(call.Args) < 4 {
		return false
	}
	literal, ok := call.Args[2].(*ast.BasicLit)
	if !ok {
		return false
	}
	format, err := strconv.Unquote(literal.Value)
	if err != nil {
		return false
	}
	verbs := regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`).FindAllString(strings.ReplaceAll(format, "%%", ""), -1)
	for i, arg := range call.Args[3:] {
		if i < len(verbs) && (strings.HasSuffix(verbs[i], "v") || strings.HasSuffix(verbs[i], "s")) && errorName.MatchString(lastName(arg)) {
			return true
		}
	}
	return false
}
