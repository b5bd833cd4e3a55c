package rules

import "testing"

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
