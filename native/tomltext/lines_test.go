package tomltext

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/matryer/is"
)

const awkward = `# [[not]] a table
title = "a [[mac]] # in quotes"   # [[nor]] this
long = """
[[mac]]
name = "still text \""" ends here """"
raw = '''
[[mac]]''''
list = [ # a comment, with ] in it
  1, [2, "]"],
  { a = 1, b.c = [
    "x" ] },
]
[[mac]]
name = 'one'
  [[mac.port]]
  receptacle = 1
  [[mac.port]]
  receptacle = 2
  [mac.deep."dotted.key"]
  x.y = 1
[ "other" . table ]
z = 1979-05-27T07:32:00Z
[[ mac ]]
port = [ { receptacle = 3 }, { receptacle = 4,
  place = "left" } ]
`

func TestLines(t *testing.T) {
	is := is.New(t)
	layout, err := Scan(awkward)
	is.NoErr(err)
	index := layout.Lines
	for path, line := range map[string]int{
		"title": 2, "long": 3, "raw": 6, "list": 8, "list[0]": 9, "list[1][1]": 9, "list[2].a": 10,
		"list[2].b.c": 10, "list[2].b.c[0]": 11, "mac[0]": 13, "mac[0].name": 14, "mac[0].port[0]": 15,
		"mac[0].port[1].receptacle": 18, `mac[0].deep."dotted.key".x.y`: 20, "other.table.z": 22,
		"mac[1]": 23, "mac[1].port[0].receptacle": 24, "mac[1].port[1].place": 25,
	} {
		if index[path] != line {
			t.Errorf("%s: line %d, want %d", path, index[path], line)
		}
	}
	is.Equal(index.At("mac[0].port[1].place"), 17) // what is missing shows its table
	is.Equal(index.At("nowhere"), 0)
	checkLines(t, awkward)
}

func TestLinesOfTheShippedScenarios(t *testing.T) {
	names, err := filepath.Glob("../sim/scenario/shipped/*.toml")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checkLines(t, string(text))
	}
}

func TestScanStopsAtDeepNesting(t *testing.T) {
	for _, text := range []string{
		"a = 1\nb = " + strings.Repeat("[", 100_000),
		"a = 1\nb" + strings.Repeat(".b", 100_000) + " = 1",
		"a = 1\nb = " + strings.Repeat("{b=", 100_000),
	} {
		layout, err := Scan(text)
		if !errors.Is(err, ErrTooDeep) || layout.Last != 2 {
			t.Errorf("%.20q... is too deep at line %d, want 2: %v", text, layout.Last, err)
		}
	}
}

// checkLines compares the index with what the decoder found: every value has a
// line, and every line with a key holds that key.
func checkLines(t *testing.T, text string) {
	t.Helper()
	var values map[string]any
	if _, err := toml.Decode(text, &values); err != nil {
		return
	}
	layout, err := Scan(text)
	if errors.Is(err, ErrTooDeep) {
		return
	}
	index := layout.Lines
	var want []string
	walk("", values, &want)
	lines := strings.Split(text, "\n")
	for _, path := range want {
		line, ok := index[path]
		if !ok || line < 1 || line > len(lines) {
			t.Fatalf("%s has line %d of %d\n%s", path, line, len(lines), text)
		}
	}
	for path := range index {
		if !slices.Contains(want, path) {
			t.Fatalf("%s is indexed and not there\n%s", path, text)
		}
	}
}

func walk(path string, value any, paths *[]string) {
	if path != "" {
		*paths = append(*paths, path)
	}
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			walk(Join(path, key), inner, paths)
		}
	case []map[string]any:
		for i, inner := range v {
			walk(fmt.Sprintf("%s[%d]", path, i), inner, paths)
		}
	case []any:
		for i, inner := range v {
			walk(fmt.Sprintf("%s[%d]", path, i), inner, paths)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add(awkward)
	f.Add("[a.b]\nc=1\n[[d]]\n[d.e]\n[[d.f]]\n")
	f.Add("a = [\n{b=1},#x\n]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		checkLines(t, text)
	})
}
