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

// reasonTable is how the files begin in which the table of reasons lies.
const reasonTable = "daemon/api/reason_"

// checkReasons wants every reason of daemon/api to be given somewhere and to be
// looked at by a test. Neither a comparison gives a reason nor the case of a switch.
func checkReasons(t *Tree) ([]Problem, error) {
	all, err := t.sources()
	if err != nil {
		return nil, err
	}
	given, tested := map[string]bool{}, map[string]bool{} // by name in Go and by word on the wire
	for _, s := range all {
		switch {
		case strings.HasPrefix(s.name, reasonTable) || within("cmd/internal", s.name): // tools of the repository give none
		case s.isTest():
			text, err := t.read(s.name)
			if err != nil {
				return nil, err
			}
			for _, word := range identifier.FindAllString(string(text), -1) {
				tested[word] = true
			}
		default:
			values(s.file, given)
		}
	}
	var out []Problem
	for _, s := range all {
		if !strings.HasPrefix(s.name, reasonTable) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			constant, ok := n.(*ast.ValueSpec)
			if !ok || len(constant.Values) != 1 {
				return true
			}
			name, word := constant.Names[0].Name, ""
			if literal, ok := constant.Values[0].(*ast.BasicLit); ok {
				word, _ = strconv.Unquote(literal.Value)
			}
			problem := Problem{File: s.name, Line: s.line(n.Pos())}
			switch {
			case !given[name] && !given[word]:
				problem.What, problem.Remedy = name+" is given by nothing", "give it where it is so, or remove it"
			case !tested[name] && !tested[word]:
				problem.What, problem.Remedy = name+" is in no test", "test that it is given where it is so"
			default:
				return true
			}
			out = append(out, problem)
			return true
		})
	}
	return out, nil
}

// identifier matches a name in Go, and a word of a reason on the wire.
var identifier = regexp.MustCompile(`\w+`)

// values adds the names and texts below n that are no part of a comparison.
func values(n ast.Node, to map[string]bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			to[n.Name] = true
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil {
				to[text] = true
			}
		case *ast.BinaryExpr:
			return n.Op != token.EQL && n.Op != token.NEQ
		case *ast.CallExpr:
			return !slices.Contains([]string{"Is", "Contains"}, lastName(n.Fun))
		case *ast.CaseClause:
			for _, statement := range n.Body {
				values(statement, to)
			}
			return false
		}
		return true
	})
}

func TestReasonsAreGiven(t *testing.T) {
	table := "package api\n\nconst (\n\tReasonA Reason = \"a_word\"\n\tReasonB Reason = \"b_word\"\n)\n\nfunc rows() []Reason { return []Reason{ReasonA, ReasonB} }\n"
	both := "package x\n\nvar _ = []string{\"a_word\", `{\"reason\":\"b_word\"}`}\n"
	runCases(t, []checkCase{
		{"given and tested", checkReasons, map[string]string{
			"daemon/api/reason_a.go": table, "x/x_test.go": both,
			"x/x.go": "package x\n\nfunc f() error { g(api.ReasonA); return fail(\"b_word\") }\n",
		}, nil},
		{"compared only", checkReasons, map[string]string{
			"daemon/api/reason_a.go": table, "x/x_test.go": both,
			"x/x.go": "package x\n\nfunc f() bool {\n\tswitch r {\n\tcase api.ReasonA:\n\t}\n\treturn r != api.ReasonB || errors.Is(err, api.ReasonB)\n}\n",
		}, []string{"daemon/api/reason_a.go:4", "daemon/api/reason_a.go:5"}},
		{"in no test", checkReasons, map[string]string{
			"daemon/api/reason_a.go": table, "x/x_test.go": "package x\n\nvar _ = api.ReasonA\n",
			"x/x.go": "package x\n\nvar _ = []api.Reason{api.ReasonA, api.ReasonB}\n",
		}, []string{"daemon/api/reason_a.go:5"}},
	})
}
