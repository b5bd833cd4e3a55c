package scan_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api/scan"
)

func texts() []string {
	return []string{
		``, ` `, `{}`, ` { } `, `{"a":1}`, `{"a":1,"a":[2,{"b":null}]}`, `{"a" : "\u00e9\"", "b":-0.5e+3}`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`,
		`{"a":1 "b":2}`, `{a:1}`, `{"a":1}}`, `[1,2]`, `[ ]`, `[1,]`, `[1 2]`, `[`, `{`, `"`, `"\`, `"\x"`, `"\u12g4"`, `"\u123`, "\"\x01\"", "\"\xff\"",
		`01`, `-`, `-a`, `1.`, `1.e2`, `1e`, `1e+`, `1E-07`, `-0`, `0.0`, `.5`, `+1`, `tru`, `true`, `false`, `null`, `nul`, `truex`, `1 2`, `"a" "b"`, "[1\f]", "\ufeff{}",
		`"\/\b\f\n\r\t\\"`, strings.Repeat("[", 10000) + strings.Repeat("]", 10000), strings.Repeat("[", 10001) + strings.Repeat("]", 10001),
		strings.Repeat(`{"a":`, 10001) + "1" + strings.Repeat("}", 10001),
	}
}

func TestValid(t *testing.T) {
	for _, text := range texts() {
		check(t, []byte(text))
	}
}

func FuzzValid(f *testing.F) {
	for _, text := range texts() {
		f.Add([]byte(text))
	}
	f.Fuzz(check)
}

// check compares with encoding/json.
func check(t *testing.T, text []byte) {
	is := is.New(t)
	isValid := json.Valid(text)
	is.Equal(scan.Valid(text), isValid)
	var last map[string]json.RawMessage
	isObject := json.Unmarshal(text, &last) == nil && last != nil
	got := map[string]json.RawMessage{}
	is.Equal(scan.Object(text, func(name, value []byte) bool {
		is.True(json.Valid(value))
		var key string
		is.NoErr(json.Unmarshal([]byte(`"`+string(name)+`"`), &key))
		got[key] = value
		if plain, isPlain := scan.Text(value); isPlain {
			var want string
			is.NoErr(json.Unmarshal(value, &want))
			is.Equal(plain, want)
			again, err := json.Marshal(plain)
			is.NoErr(err)
			is.Equal(string(again), string(value))
		}
		return true
	}), isObject)
	if isObject {
		is.True(reflect.DeepEqual(got, last))
	}
	var want, all []json.RawMessage
	isList := json.Unmarshal(text, &want) == nil && want != nil
	is.Equal(scan.List(text, func(value []byte) bool { all = append(all, value); return true }), isList)
	if isList {
		is.Equal(len(all), len(want))
		for i := range all {
			is.Equal(string(all[i]), string(want[i]))
		}
	}
}

// Who has seen enough stops it.
func TestRefused(t *testing.T) {
	is := is.New(t)
	seen := 0
	is.Equal(scan.Object([]byte(`{"a":1,"b":2}`), func(_, _ []byte) bool { seen++; return false }), false)
	is.Equal(scan.List([]byte(`[1,2]`), func([]byte) bool { seen++; return false }), false)
	is.Equal(seen, 2)
}

func TestText(t *testing.T) {
	for value, want := range map[string]bool{`"a b"`: true, `""`: true, `"a\"b"`: false, `"é"`: false, `"<"`: false, `1`: false, `"`: false, ``: false} {
		is := is.New(t)
		_, isText := scan.Text([]byte(value))
		is.Equal(isText, want)
	}
}
