package command

import (
	"encoding/json"
	"testing"

	"github.com/matryer/is"
)

func TestParseValue(t *testing.T) {
	for _, c := range []struct{ like, value, want string }{
		{`"info"`, "debug", `"debug"`},
		{`"1h"`, "30", `"30"`}, // a duration without a unit is for the daemon to refuse
		{`7731`, "0", `0`},
		{`7731`, " 12 ", `12`},
		{`7731`, "many", `"many"`},
		{`true`, "false", `false`},
		{`[]`, "a, b,,c", `["a","b","c"]`},
		{`[]`, `["a,b"]`, `["a,b"]`},
		{`null`, "a", `["a"]`},
		{`[]`, "", `[]`},
		{`[]`, "[broken", `["[broken"]`},
		{``, "x", `"x"`},
	} {
		t.Run(c.like+" "+c.value, func(t *testing.T) {
			is := is.New(t)
			got, err := parseValue(json.RawMessage(c.like), c.value)
			is.NoErr(err)
			is.Equal(string(got), c.want)
		})
	}
}

func FuzzParseValue(f *testing.F) {
	f.Add(`[]`, "a,b")
	f.Add(`1`, "{}")
	f.Fuzz(func(t *testing.T, like, value string) {
		if got, err := parseValue(json.RawMessage(like), value); err != nil || !json.Valid(got) {
			t.Fatalf("%q is no JSON: %v", got, err)
		}
	})
}
