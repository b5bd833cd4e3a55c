package rules

import "testing"

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
