package rules

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// errorName is what variables are called that hold an error.
var errorName = regexp.MustCompile(`^(err|problem|failed|panicked|[a-z]+Err)$`)

// owedReplies are the replies of before the rule that still quote an error as it is,
// by file. They may become fewer only.
var owedReplies = map[string]int{
	"daemon/internal/rdma/act.go":             2, // what the system's configuration of networks says has no other words yet
	"daemon/internal/rank/shimproto/fence.go": 1, // a shim's word for the log of its daemon
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
		if s.isTest() || slices.ContainsFunc([]string{"cmd/internal/", "cmd/fulmen-rank/", "native/"}, func(p string) bool { return strings.HasPrefix(s.name, p) }) { // whom only programs hear
			continue
		}
		var found []Problem
		ast.Inspect(s.file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && strings.Contains(text.Value, "runtime error") {
				out = append(out, Problem{File: s.name, Line: s.line(n.Pos()), What: "a text quotes a panic of Go", Remedy: "say what it means for a person, and log the rest"})
			}
			call, _ := n.(*ast.CallExpr)
			if field, ok := n.(*ast.KeyValueExpr); ok && isWords(field.Key) {
				call, _ = field.Value.(*ast.CallExpr)
				if call != nil && !isErrorText(call) && !quotesError(call, "fmt", "Sprintf", 0) {
					call = nil
				}
			} else if call != nil && !quotesError(call, "api", "Errorf", 2) {
				call = nil
			}
			if call != nil {
				found = append(found, Problem{
					File: s.name, Line: s.line(call.Pos()), What: "a reply quotes an error as it is",
					Remedy: "say in words what happened, add what the system said with native.ErrnoSuffix, and keep the rest for the log with From",
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

// isWords reports whether a field of a value has a sentence for people.
func isWords(key ast.Expr) bool {
	name := lastName(key)
	return name == "Message" || name == "Text" || name == "Remedy"
}

// isErrorText reports whether a call is that of an error's own text.
func isErrorText(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && method.Sel.Name == "Error" && len(call.Args) == 0
}

// quotesError reports whether a call is one that writes a format, the argument number at,
// with an error for its verb v or s.
func quotesError(call *ast.CallExpr, pkg, function string, at int) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || method.Sel.Name != function || lastName(method.X) != pkg || len(call.Args) < at+2 {
		return false
	}
	literal, ok := call.Args[at].(*ast.BasicLit)
	if !ok {
		return false
	}
	format, err := strconv.Unquote(literal.Value)
	if err != nil {
		return false
	}
	verbs := regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`).FindAllString(strings.ReplaceAll(format, "%%", ""), -1)
	for i, arg := range call.Args[at+1:] {
		if i < len(verbs) && (strings.HasSuffix(verbs[i], "v") || strings.HasSuffix(verbs[i], "s")) && errorName.MatchString(lastName(arg)) {
			return true
		}
	}
	return false
}

func TestRepliesQuoteNoErrors(t *testing.T) {
	runCases(t, []checkCase{
		{"errors as they are", checkReplies, map[string]string{
			"a.go": "package a\n\nfunc f() {\n\tapi.Errorf(r, s, \"It cannot be read: %v.\", err)\n\tapi.Errorf(r, s, \"%d%%: %s\", n, readErr)\n\tapi.Errorf(r, s, \"%s: %w\", x.problem, y)\n}\n",
			"b.go": "package a\n\nconst t = \"runtime error: nil\"\n",
			"c.go": "package a\n\nfunc f() {\n\tg(api.Cause{Message: err.Error()})\n\tg(api.DoctorCheck{Text: fmt.Sprintf(\"no: %v\", err), Name: err.Error()})\n}\n",
		}, []string{"a.go:4", "a.go:5", "a.go:6", "b.go:3", "c.go:4", "c.go:5"}},
		{"words", checkReplies, map[string]string{
			"a.go":      "package a\n\nfunc f() {\n\tapi.Errorf(r, s, \"%s cannot be read.\", path)\n\tfmt.Errorf(\"read: %v\", err)\n\tlog.Warn(\"read\", \"error\", err)\n\tapi.Errorf(r, err.name, \"none\")\n}\n",
			"a_test.go": "package a\n\nfunc g() { api.Errorf(r, s, \"%v, a runtime error\", err) }\n",
		}, nil},
		{"those of before the rule", checkReplies, map[string]string{
			"daemon/internal/rank/shimproto/fence.go": "package d\n\nfunc f() {\n\tapi.Errorf(r, s, \"%v\", err)\n}\n",
		}, nil},
		{"one more than there were", checkReplies, map[string]string{
			"daemon/internal/rank/shimproto/fence.go": "package d\n\nfunc f() {\n\tapi.Errorf(r, s, \"%v\", err)\n\tapi.Errorf(r, s, \"%v\", err)\n}\n",
		}, []string{"daemon/internal/rank/shimproto/fence.go:4", "daemon/internal/rank/shimproto/fence.go:5"}},
	})
}
