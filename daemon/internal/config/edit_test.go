package config

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/tomltext"
)

func TestEdit(t *testing.T) {
	lease := Change{"times.lease", "45s"}
	tests := map[string]struct {
		text   string
		change Change
		want   string
	}{
		"empty":                            {"", lease, "[times]\nlease = \"45s\"\n"},
		"a comment alone":                  {"# mine", lease, "# mine\n\n[times]\nlease = \"45s\"\n"},
		"value":                            {"[times]\nlease   =  '1m' # slow net\nbeat = \"1s\"\n", lease, "[times]\nlease   =  \"45s\" # slow net\nbeat = \"1s\"\n"},
		"same value":                       {"[times]\nlease = '45s'\n", lease, "[times]\nlease = '45s'\n"},
		"same duration":                    {"[times]\nlease = '0.75m'\n", lease, "[times]\nlease = \"45s\"\n"},
		"in its table":                     {"[times]\n  beat = \"1s\" # b\n\n# about peers\n[peers]\nport = 1\n", lease, "[times]\n  beat = \"1s\" # b\n  lease = \"45s\"\n\n# about peers\n[peers]\nport = 1\n"},
		"below its example":                {"[times]\n# What it is.\n# lease = \"30s\"\n# beat = \"500ms\"\n", lease, "[times]\n# What it is.\n# lease = \"30s\"\nlease = \"45s\"\n# beat = \"500ms\"\n"},
		"empty table":                      {"[times] # t\n[api]\n", lease, "[times] # t\nlease = \"45s\"\n[api]\n"},
		"no last newline":                  {"[times]\nbeat = \"1s\"", lease, "[times]\nbeat = \"1s\"\nlease = \"45s\""},
		"dotted":                           {"times.beat = \"1s\"\n[api]\nport = 1\n", lease, "times.beat = \"1s\"\ntimes.lease = \"45s\"\n[api]\nport = 1\n"},
		"inline":                           {"times = { beat = \"1s\" } # t\n", lease, "times = { lease = \"45s\", beat = \"1s\" } # t\n"},
		"inline, empty":                    {"times = {}\n", lease, "times = { lease = \"45s\" }\n"},
		"inline, above":                    {"log = { level = \"warn\" }\n", Change{"log.levels.store", "debug"}, "log = { levels.store = \"debug\", level = \"warn\" }\n"},
		"other table":                      {"[api]\nport = 1\n", lease, "[api]\nport = 1\n\n[times]\nlease = \"45s\"\n"},
		"Windows":                          {"[times]\r\nbeat = \"1s\"\r\n", lease, "[times]\r\nbeat = \"1s\"\r\nlease = \"45s\"\r\n"},
		"byte order mark":                  {"\ufeff[times]\n", lease, "\ufeff[times]\nlease = \"45s\"\n"},
		"several lines":                    {"[peers]\naddresses = [\n  \"a\", # one\n]\nport = 1 # p\n", Change{"peers.addresses", "b, c"}, "[peers]\naddresses = [\"b\", \"c\"]\nport = 1 # p\n"},
		"list of TOML":                     {"", Change{"peers.addresses", `["b", "c"]`}, "[peers]\naddresses = [\"b\", \"c\"]\n"},
		"list of JSON":                     {"", Change{"peers.addresses", []any{"b"}}, "[peers]\naddresses = [\"b\"]\n"},
		"number as text":                   {"", Change{"api.port", " 80 "}, "[api]\nport = 80\n"},
		"number of JSON":                   {"", Change{"api.port", float64(80)}, "[api]\nport = 80\n"},
		"text to be quoted":                {"", Change{"paths.state", `/a "b" \c <&>ä`}, "[paths]\nstate = \"/a \\\"b\\\" \\\\c <&>ä\"\n"},
		"looks like a comment in a string": {"[peers]\naddresses = [] # \"\"\"\n[times]\n# lease = \"\"\"\n", lease, "[peers]\naddresses = [] # \"\"\"\n[times]\n# lease = \"\"\"\nlease = \"45s\"\n"},

		"out":                {"[times]\nlease = \"1m\"\nbeat = \"1s\"\n", Change{"times.lease", nil}, "[times]\nbeat = \"1s\"\n"},
		"out, comment stays": {"[times]\n  lease = \"1m\" # slow net\n", Change{"times.lease", nil}, "[times]\n  # slow net\n"},
		"out, not there":     {"[times]\n", Change{"times.lease", nil}, "[times]\n"},
		"out of several":     {"times = { beat = \"1s\", lease = \"1m\", grace = \"1s\" }\n", Change{"times.lease", nil}, "times = { beat = \"1s\", grace = \"1s\" }\n"},
		"out, the last":      {"times = { beat = \"1s\", lease = \"1m\" }\n", Change{"times.lease", nil}, "times = { beat = \"1s\" }\n"},
		"out, the only":      {"times = { lease = \"1m\" }\n", Change{"times.lease", nil}, "times = {  }\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got, p, err := Edit(tt.text, []Change{tt.change})
			is.NoErr(err)
			is.Equal(got, tt.want)
			is.Equal(p.Set[tt.change.Key], tt.change.Value != nil)
		})
	}
}

func TestEditRefuses(t *testing.T) {
	tests := map[string]struct {
		text    string
		changes []Change
		reason  api.Reason
		reports string
	}{
		"unknown key":     {"", []Change{{"times.leese", "1s"}}, api.ReasonConfigUnknownKey, `did you mean "times.lease"?`},
		"bad value":       {"", []Change{{"times.lease", "1"}}, api.ReasonConfigInvalid, "the default is \"30s\""},
		"broken file":     {"[times]\nbeat = 3\n", []Change{{"times.lease", "1m"}}, api.ReasonConfigInvalid, "line 2"},
		"together":        {"", []Change{{"times.lease", "2s"}, {"times.grace", "1s"}}, api.ReasonConfigInvalid, "three renewals"},
		"one bad of two":  {"", []Change{{"times.grace", "1s"}, {"api.port", "x"}}, api.ReasonConfigInvalid, "api.port"},
		"fraction":        {"", []Change{{"api.port", 1.5}}, api.ReasonConfigInvalid, "a number"},
		"list in a list":  {"", []Change{{"peers.addresses", []any{[]any{"a"}}}}, api.ReasonConfigInvalid, "a list"},
		"text with lines": {"", []Change{{"paths.state", "/a\nport = 1"}}, api.ReasonConfigInvalid, "path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, _, err := Edit(tt.text, tt.changes)
			if p, ok := errors.AsType[*ParseError](err); ok {
				err = p.In("")
			}
			is.True(errors.Is(err, tt.reason))
			is.True(strings.Contains(err.Error(), tt.reports))
		})
	}
}

func TestEditTogether(t *testing.T) {
	is := is.New(t)
	got, p, err := Edit("[times]\nlease_renewal = \"10s\"\n", []Change{{"times.lease", "3s"}, {"times.lease_renewal", "1s"}})
	is.NoErr(err) // only what comes out at the end must be right
	is.Equal(got, "[times]\nlease_renewal = \"1s\"\nlease = \"3s\"\n")
	is.Equal(formatDuration(p.Config.Times.Lease), "3s")
}

func TestExampleCanBeEdited(t *testing.T) {
	is := is.New(t)
	p, err := Parse(example())
	is.NoErr(err)
	is.Equal(p.Config, Default())
	is.Equal(len(p.Set), 0)
	s := example()
	for _, f := range Fields() {
		c := p.Config
		before := strings.Count(s, "\n")
		edited, _, err := Edit(s, []Change{{f.Key, f.get(&c)}})
		is.NoErr(err)
		is.Equal(strings.Count(edited, "\n"), before+1)
		if f.Table() != levelsTable || f.Name() == Packages()[0] {
			at := strings.Index(edited, "\n"+f.Name()+" = ")
			is.True(strings.Contains(edited[strings.LastIndexByte(edited[:at], '\n'):at], "# "+f.Name()+" = ")) // right below its example
		}
		back, _, err := Edit(edited, []Change{{f.Key, nil}})
		is.NoErr(err)
		is.Equal(back, s)
	}
	// Without the # it says the same.
	is.NoErr(uncommented(t, example()))
}

func uncommented(t *testing.T, s string) error {
	t.Helper()
	var lines []string
	for line := range strings.Lines(s) {
		if rest, ok := strings.CutPrefix(line, "# "); ok && strings.Contains(rest, " = ") && !strings.ContainsRune(strings.SplitN(rest, " = ", 2)[0], ' ') {
			line = rest
		}
		lines = append(lines, line)
	}
	p, err := Parse(strings.Join(lines, ""))
	if err == nil && len(p.Set) < 20 {
		t.Fatalf("only %d keys are shown", len(p.Set))
	}
	return err
}

// FuzzEdit: a change of one key changes no other, no comment, no blank.
func FuzzEdit(f *testing.F) {
	for i, s := range []string{
		"", example(), "[times]\nlease = \"1m\" # c\n", "times = { beat = \"1s\", lease = \"1m\" }", "log.level = \"warn\"",
		"[log]\n[log.levels]\nstore = \"debug\"\n", "[peers]\naddresses = [ \"a\", # x\n]", "\ufeff[api]\r\nport=1\r\n", "times.grace='1s'\nlog={}",
	} {
		for k := range len(Fields()) {
			f.Add(s, uint8(k), "45s")
		}
		f.Add(s, uint8(i), "")
	}
	f.Fuzz(func(t *testing.T, s string, which uint8, value string) {
		before, err := Parse(s)
		if err != nil {
			return
		}
		field := Fields()[int(which)%len(Fields())]
		change := Change{field.Key, value}
		if value == "" {
			change.Value = nil
		}
		edited, after, err := Edit(s, []Change{change})
		if err != nil {
			if change.Value == nil {
				return // two keys may only be right together
			}
			if _, err := field.normal(value); err == nil {
				if _, ok := errors.AsType[*ParseError](err); !ok && errors.Is(err, api.ReasonConfigInvalid) {
					t.Fatalf("%s = %q cannot be set in %q", field.Key, value, s)
				}
			}
			return
		}
		if change.Value != nil {
			want, err := field.normal(value)
			if err != nil || !reflect.DeepEqual(field.get(&after.Config), want) {
				t.Fatalf("%s is %v, not %v (%v)", field.Key, field.get(&after.Config), want, err)
			}
			onlyInserted(t, s, edited, before, field.Key)
		}
		for _, other := range Fields() {
			if other.Key != field.Key && !reflect.DeepEqual(other.get(&before.Config), other.get(&after.Config)) {
				t.Fatalf("%s changed too", other.Key)
			}
		}
		keys := maps.Clone(before.Set)
		delete(keys, field.Key)
		rest := maps.Clone(after.Set)
		delete(rest, field.Key)
		if !maps.Equal(keys, rest) || after.Set[field.Key] != (change.Value != nil) {
			t.Fatalf("the keys were %v and are %v", before.Set, after.Set)
		}
	})
}

// onlyInserted wants every byte of s to be in edited, in order and in one piece
// or two, but for those of the value that was replaced.
func onlyInserted(t *testing.T, s, edited string, before *Parsed, key string) {
	t.Helper()
	span := tomltext.Span{}
	for _, e := range before.layout.Entries {
		if nameOf(e.Path) == key {
			span = e.Value
		}
	}
	front := 0
	for front < min(len(s), len(edited)) && s[front] == edited[front] {
		front++
	}
	back := 0
	for back < min(len(s), len(edited))-front && s[len(s)-1-back] == edited[len(edited)-1-back] {
		back++
	}
	if lost := s[front : len(s)-back]; lost != "" && (front < span.Start || len(s)-back > span.End) {
		t.Fatalf("%q was lost\nof   %q\ninto %q", lost, s, edited)
	}
}
