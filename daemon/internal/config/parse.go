package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"fulmen/daemon/api"
	"fulmen/native/tomltext"
)

// MaxBytes is the largest configuration that is read.
const MaxBytes = 64 << 10

// Parsed is a configuration with what is known of its text.
type Parsed struct {
	// Config has the values of the text, and the defaults for the rest.
	Config Config
	// Set are the keys that the text has.
	Set map[string]bool

	values map[string]any // as the text has them, table in table
	layout tomltext.Layout
}

// Parse reads a configuration. It is strict: any key that is not known and any
// value that is not allowed make a [*ParseError], which names all of them.
func Parse(s string) (*Parsed, error) {
	values, problem := decode(s)
	if problem != nil {
		return nil, &ParseError{[]Problem{*problem}}
	}
	layout, err := tomltext.Scan(s)
	if err != nil {
		return nil, &ParseError{[]Problem{{Reason: api.ReasonConfigInvalid, Message: "The text is written in a way that is not supported."}}}
	}
	r := reader{text: s, known: map[string]Field{}, parsed: &Parsed{Config: Default(), Set: map[string]bool{}, values: values, layout: layout}}
	for _, f := range Fields() {
		r.known[f.Key] = f
	}
	r.table(nil, values)
	if len(r.problems.Problems) == 0 {
		r.relations()
	}
	if err := r.problems.sort(); err != nil {
		return nil, err
	}
	return r.parsed, nil
}

// decode reads TOML, and says where it is none.
func decode(s string) (values map[string]any, problem *Problem) {
	broken := func(at tomltext.Place, message string) (map[string]any, *Problem) {
		return nil, &Problem{Place: at, Reason: api.ReasonConfigInvalid, Message: message}
	}
	if len(s) > MaxBytes {
		return broken(tomltext.Place{}, fmt.Sprintf("The file has %d bytes, more than the %d that are read.", len(s), MaxBytes))
	}
	if !utf8.ValidString(s) {
		at := strings.IndexFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool { return r == utf8.RuneError })
		return broken(tomltext.PlaceOf(s, at), "The file is not text in UTF-8.")
	}
	if _, err := tomltext.Scan(s); errors.Is(err, tomltext.ErrTooDeep) {
		return broken(tomltext.Place{}, "Tables or lists are nested too deeply.")
	}
	// The library panics with other values than its errors only through a defect.
	defer func() {
		if r := recover(); r != nil {
			values, problem = broken(tomltext.Place{}, "The file is not valid TOML.")
		}
	}()
	values = map[string]any{}
	if _, err := toml.Decode(s, &values); err != nil {
		at, message := tomltext.Place{}, err.Error()
		if p, ok := errors.AsType[toml.ParseError](err); ok {
			at = tomltext.PlaceOf(s, p.Position.Start)
			if p.Position.Line > 0 && at.Line != p.Position.Line {
				at = tomltext.Place{Line: p.Position.Line, Column: max(p.Position.Col, 1)}
			}
			message = p.Message
		}
		return broken(at, sentence(capital(message)))
	}
	return values, nil
}

// reader takes the values out of decoded tables.
type reader struct {
	text     string
	known    map[string]Field
	parsed   *Parsed
	problems ParseError
}

// table takes one table. Whatever is wrong is noted, and the rest goes on.
func (r *reader) table(path []string, values map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path := append(slices.Clip(path), name)
		key, v := nameOf(path), values[name]
		inside, isTable := v.(map[string]any)
		f, ok := r.known[key]
		switch {
		case ok:
			if err := f.set(&r.parsed.Config, v); err != nil {
				r.note(path, true, api.ReasonConfigInvalid, key, sentence(key+" "+err.Error()))
				continue
			}
			r.parsed.Set[key] = true
		case !r.isTable(key):
			r.note(path, false, api.ReasonConfigUnknownKey, key, fmt.Sprintf("There is no key %s%s", shorten(key), r.suggest(key, isTable)))
		case !isTable:
			r.note(path, true, api.ReasonConfigInvalid, key, fmt.Sprintf("%s is %s, and must be a table with keys.", key, article(v)))
		default:
			r.table(path, inside)
		}
	}
}

func (r *reader) isTable(key string) bool {
	for known := range r.known {
		if strings.HasPrefix(known, key+".") {
			return true
		}
	}
	return false
}

// suggest ends the sentence about a name that is not known.
func (r *reader) suggest(key string, table bool) string {
	candidates := Keys()
	if table {
		candidates = nil
		for _, f := range Fields() {
			candidates = append(candidates, f.Table())
		}
	}
	if m := meant(key, candidates); m != "" {
		return m
	}
	// The right name in the wrong table.
	last := key[strings.LastIndexByte(key, '.')+1:]
	for _, known := range candidates {
		if strings.HasSuffix(known, "."+last) {
			return fmt.Sprintf("; did you mean %q?", known)
		}
	}
	return "."
}

// note adds a fault, at the key or at its value.
func (r *reader) note(path []string, value bool, reason api.Reason, key, message string) {
	p := Problem{Reason: reason, Key: key, Message: message}
	if at, ok := r.find(path, value); ok {
		p.Place = tomltext.PlaceOf(r.text, at)
	}
	r.problems.Problems = append(r.problems.Problems, p)
}

// find is where a key stands, or a header or another key that names it on the way.
func (r *reader) find(path []string, value bool) (int, bool) {
	for _, e := range r.parsed.layout.Entries {
		if slices.Equal(e.Path, path) {
			if value {
				return e.Value.Start, true
			}
			return e.Key.Start, true
		}
	}
	for _, h := range r.parsed.layout.Headers {
		if len(h.Path) >= len(path) && slices.Equal(h.Path[:len(path)], path) {
			return h.Span.Start, true
		}
	}
	for _, e := range r.parsed.layout.Entries {
		if len(e.Path) >= len(path) && slices.Equal(e.Path[:len(path)], path) {
			return e.Key.Start, true
		}
	}
	return 0, false
}

// relations checks what no value can break by itself.
func (r *reader) relations() {
	t := r.parsed.Config.Times
	if t.LeaseRenewal > t.Lease/3 {
		r.relation("times.lease_renewal", "times.lease", fmt.Sprintf(
			"times.lease_renewal is %s and times.lease is %s: a lease must last at least three renewals, so that two may be lost.",
			formatDuration(t.LeaseRenewal), formatDuration(t.Lease)))
	}
	if t.Beat > t.BeatLost/2 {
		r.relation("times.beat", "times.beat_lost", fmt.Sprintf(
			"times.beat is %s and times.beat_lost is %s: a node must have the time for two beats before it is lost.",
			formatDuration(t.Beat), formatDuration(t.BeatLost)))
	}
	if p := r.parsed.Config.API.Port; p != 0 && p == r.parsed.Config.Peers.Port {
		r.relation("api.port", "peers.port", fmt.Sprintf("api.port and peers.port are both %d.", p))
	}
}

// relation notes a fault of two keys, at one that the text has.
func (r *reader) relation(a, b, message string) {
	key := a
	if !r.parsed.Set[a] {
		key = b
	}
	r.note(strings.Split(key, "."), true, api.ReasonConfigInvalid, key, message)
}

// nameOf is the key with that path. A part that needs quotes gets them, and is
// no key of ours then.
func nameOf(path []string) string { return toml.Key(path).String() }
