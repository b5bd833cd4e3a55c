package look

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func FuzzParseRequest(f *testing.F) {
	f.Add([]byte(`{"op":"find","deadline_s":1,"account":"ada","home":"/h","shell":"/bin/sh","command":["x"]}`))
	f.Add([]byte(`{"op":"prepare","deadline_s":1,"account":"ada","home":"/h","shell":"/bin/sh","prepare":["x","y"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseRequest(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseRequest(again); err != nil {
			t.Fatalf("%s is read and %s is not: %v", data, again, err)
		}
	})
}

func FuzzParseAnswer(f *testing.F) {
	f.Add([]byte(`{"program":"/p","args":[],"versions":{"mlx":"1"},"problems":[{"reason":"r","message":"m"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := ParseAnswer(data)
		if err != nil {
			return
		}
		for _, p := range a.Problems {
			if p.Message == "" {
				t.Fatal("a problem without a message")
			}
		}
	})
}

// FuzzFiles reads what programs, installers and shells wrote.
func FuzzFiles(f *testing.F) {
	f.Add("#!/bin/sh\n'''exec' \"/a b/python\" \"$0\"")
	f.Add("mlx-0.1.dist-info")
	f.Add(askMark + "3\x001\x00/u\x00/a" + askMark)
	f.Fuzz(func(t *testing.T, text string) {
		shebang([]byte(text))
		wrapped([]byte(text))
		if name, _, ok := distName(text); ok && name == "" {
			t.Fatal("a package without a name")
		}
		headerVersion(strings.NewReader(text))
		scriptOf(strings.Fields(text))
		if p, err := parsePython(text); err == nil {
			for _, folder := range p.Folders {
				if folder[0] != '/' {
					t.Fatal("a relative folder")
				}
			}
		}
		for _, entry := range cleanEnvironment(strings.Split(text, "\x00")) {
			if !isVariable(strings.SplitN(entry, "=", 2)[0]) {
				t.Fatal("no variable")
			}
		}
	})
}

func TestStrict(t *testing.T) {
	is := is.New(t)
	good := `{"op":"find","deadline_s":1,"account":"ada","home":"/h","shell":"/bin/sh","command":["x"]`
	_, err := ParseRequest([]byte(good + "}\n"))
	is.NoErr(err)
	for _, bad := range []string{
		"", "null", good, good + `}{}`, good + `,"unknown":1}`, good + `,"op":"remove"}`, good + `,"home":"h"}`,
		good + `,"deadline_s":0}`, good + `,"deadline_s":1e9}`, good + `,"command":[]}`, good + `,"command":[""]}`,
		good + `,"directory":"x"}`, good + `,"env":["A=\u0000"]}`, good + `,"op":"prepare"}`, good + `,"op":"environment","shell":"sh"}`,
		good + `,"home":""}`,
	} {
		_, err := ParseRequest([]byte(bad))
		is.True(err != nil) // bad
	}
	for _, bad := range []string{"", `{"unknown":1}`, `{} {}`, `{"problems":[{"reason":"x"}]}`, `{"problems":[{"reason":"","message":"x"}]}`, `[]`} {
		_, err := ParseAnswer([]byte(bad))
		is.True(err != nil) // bad
	}
	_, err = ParseAnswer([]byte(`{"program":"` + strings.Repeat("x", MaxAnswerBytes) + `"}`))
	is.True(err != nil)
}
