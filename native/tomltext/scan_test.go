package tomltext

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
	"github.com/matryer/is"
)

func TestScan(t *testing.T) {
	is := is.New(t)
	text := "\ufeff" + `# first
top = 1 # one
"quo\u0074ed" . 'part' = "a # no comment"

[ table . "x y" ]
list = [ # here
  "]", '''
# not a comment''', { a = 1 },
]
inline = { a = 'b', c.d = {}, }
time = 1979-05-27 07:32:00Z
[[many]]
text = """five quotes"""""
`
	l, err := Scan(text)
	is.NoErr(err)
	var got []string
	for _, e := range l.Entries {
		got = append(got, strings.Join(e.Path, "|")+" = "+text[e.Value.Start:e.Value.End])
	}
	is.Equal(got, []string{
		"top = 1",
		`quoted|part = "a # no comment"`,
		"table|x y|list = [ # here\n  \"]\", '''\n# not a comment''', { a = 1 },\n]",
		"table|x y|inline = { a = 'b', c.d = {}, }",
		"table|x y|inline|a = 'b'",
		"table|x y|inline|c|d = {}",
		"table|x y|time = 1979-05-27 07:32:00Z",
		`many|text = """five quotes"""""`,
	})
	is.Equal(text[l.Entries[1].Key.Start:l.Entries[1].Key.End], `"quo\u0074ed" . 'part'`)
	is.Equal(len(l.Headers), 2)
	is.Equal(text[l.Headers[0].Span.Start:l.Headers[0].Span.End], `[ table . "x y" ]`)
	is.True(l.Headers[1].Array && !l.Headers[0].Array)
	is.True(l.Entries[4].Inline && !l.Entries[3].Inline && l.Entries[3].Table)
}

func TestPlaceOf(t *testing.T) {
	is := is.New(t)
	text := "a\näö = 1\r\nlast"
	is.Equal(PlaceOf(text, 0), Place{1, 1})
	is.Equal(PlaceOf(text, strings.Index(text, "=")), Place{2, 4}) // characters, not bytes
	is.Equal(PlaceOf(text, strings.Index(text, "last")), Place{3, 1})
	is.Equal(PlaceOf(text, 1000), Place{3, 5})
}

// FuzzScan compares with the parser: every key that it finds, and no other, and
// in the place of each value its text.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		"", "a = 1", "[t]\na.b = \"x\" # c\n", "a = [1, [2, {b = 3}]]", "a = {b = {c = 1}, d = '''\n'''}",
		"[[x]]\ny=1\n[[x]]\ny=2", "'' = \"\\\"\"", "\ufeffa=1\r\nb=2\r\n", "a = \"\"\"\\\n  b\"\"\"\"", "a = 1979-05-27 07:32:00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		layout, err := Scan(text) // whatever it is, this ends
		var decoded map[string]any
		if len(text) > 1<<12 || !utf8.ValidString(text) || strings.Contains(text, "\x00") || errors.Is(err, ErrTooDeep) {
			return
		}
		meta, bad := toml.Decode(text, &decoded)
		if bad != nil {
			return
		}
		if err != nil {
			t.Fatalf("TOML is refused: %v", err)
		}
		want, got := map[string]bool{}, map[string]bool{}
		for _, k := range meta.Keys() {
			want[k.String()] = true
		}
		for _, e := range layout.Entries {
			got[toml.Key(e.Path).String()] = true
			var value map[string]any
			if _, err := toml.Decode("x = "+text[e.Value.Start:e.Value.End], &value); err != nil {
				t.Fatalf("the value of %q is %q: %v", e.Path, text[e.Value.Start:e.Value.End], err)
			}
		}
		for _, h := range layout.Headers {
			got[toml.Key(h.Path).String()] = true
		}
		for k := range got {
			if !want[k] {
				t.Fatalf("found %s, the parser has %v", k, slices.Sorted(maps.Keys(want)))
			}
		}
	})
}
