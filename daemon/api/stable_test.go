package api

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/matryer/is"

	"fulmen/native/nativetest/testkit"
)

// The stable form is what the encoder writes, and nothing else.
func TestStableFormIsTheEncoders(t *testing.T) {
	is := is.New(t)
	parts := []string{`{"a":`, `}`, `[`, `]`, `,`, `"x"`, `"`, `\"`, `\\`, `\`, ` `, "\t", "\n", "\r", `1`, `-2.5e3`, `true`, `null`, `<`, `>`, `&`, "\u2028", "\u2029", "\u2027", "é",
		`\u003c`, `\u2028`, "\xe2", "\xe2\x80", "\xff", `"a b"`, `" "`, `"<"`, `"&"`, "\"\u2028\"", "\"\u2027\"", `"\"<"`, `"\\"`, "\"\xff\""}
	random := testkit.Fixed(t, 1).Source(2)
	stable := 0
	for range 200_000 {
		var raw []byte
		if random.IntN(2) == 0 {
			raw = append(raw, '[')
		}
		for range random.IntN(4) {
			raw = append(raw, parts[random.IntN(len(parts))]...)
		}
		if len(raw) > 0 && raw[0] == '[' {
			raw = append(raw, ']')
		}
		var compact, escaped bytes.Buffer
		want := json.Compact(&compact, raw) == nil
		json.HTMLEscape(&escaped, compact.Bytes())
		want = want && utf8.Valid(raw) && bytes.Equal(escaped.Bytes(), raw)
		if got := CheckStable(raw) == nil; got != want {
			t.Fatalf("%q is stable: %v, and was taken for the opposite", raw, want)
		}
		if want {
			stable++
		}
	}
	is.True(stable > 1000)
}
