package jobfile

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/native/nearest"
	"fulmen/native/tomltext"
)

// reader compares the values of a file with the type that they fill.
type reader struct {
	lines    tomltext.Lines
	node     func(word string) (api.NodeID, error)
	problems []Problem
}

// place is where a value stands.
type place struct {
	path string // for people, such as publish.port
	name string // as Lines has it, such as publish[1].port
}

func (p place) key(key string) place {
	path := key
	if p.path != "" {
		path = p.path + "." + key
	}
	return place{path, tomltext.Join(p.name, key)}
}

func (p place) element(i int) place { return place{p.path, fmt.Sprintf("%s[%d]", p.name, i)} }

// fail notes a problem.
func (r *reader) fail(at place, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.lines.At(at.name), fmt.Sprintf(format, args...)})
}

// ofElement is what the name of something in a list has more than its path.
var ofElement = regexp.MustCompile(`\[\d+\]`)

// lineOf is the first line of something with a path, or of the table around it.
func (r *reader) lineOf(path string) int {
	first := 0
	for name, line := range r.lines {
		if ofElement.ReplaceAllString(name, "") == path && (first == 0 || line < first) {
			first = line
		}
	}
	return cmp.Or(first, r.lines.At(path))
}

// sorted are the problems in the order of their lines.
func (r *reader) sorted() []Problem {
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	if n := len(r.problems); n > maxProblems {
		r.problems = append(r.problems[:maxProblems], Problem{0, fmt.Sprintf("and %d more", n-maxProblems)})
	}
	return r.problems
}

// table checks the keys of a table against the fields of a struct.
func (r *reader) table(in place, values map[string]any, t reflect.Type) {
	known := fields(t)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := in.key(key)
		field, ok := known[key]
		if !ok {
			names := slices.Sorted(maps.Keys(known))
			meant := near(key, names)
			if meant != "" {
				meant = "; the nearest is " + meant
			}
			within := ""
			if in.path != "" {
				within = " in " + in.path
			}
			r.fail(at, "there is no field %q%s%s; the fields are %s", key, within, meant, strings.Join(names, ", "))
			continue
		}
		values[key] = r.value(at, values[key], field)
	}
}

// near is the name that somebody probably meant: of several that are as near, the
// word's plural. It is empty where none is near.
func near(word string, known []string) string {
	if several := word + "s"; slices.Contains(known, several) {
		return several
	}
	return nearest.Of(word, known)
}

// fields are the types of a struct's fields, by their names on the wire.
func fields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[name] = f.Type
	}
	return out
}

var (
	nodeType = reflect.TypeFor[api.NodeID]()
	enumType = reflect.TypeFor[api.Enum]()
)

// value checks a value against a type, and gives it back with ids for the names
// of nodes. What has another shape is left for the decoder to refuse.
func (r *reader) value(at place, v any, t reflect.Type) any {
	word, isText := v.(string)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nodeType && isText:
		id, err := r.node(word)
		if err != nil {
			r.fail(at, "%s: %s", at.path, strings.TrimSuffix(api.AsError(err).Message, "."))
		}
		return string(id)
	case isText && t.Implements(enumType):
		if all := reflect.Zero(t).Interface().(api.Enum).Values(); !slices.Contains(all, word) {
			r.fail(at, "%s must be one of %s, not %q", at.path, strings.Join(all, ", "), word)
		}
	case t.Kind() == reflect.Struct:
		if values, ok := v.(map[string]any); ok {
			r.table(at, values, t)
		}
	case t.Kind() == reflect.Slice:
		return r.list(at, v, t.Elem())
	}
	return v
}

func (r *reader) list(at place, v any, t reflect.Type) any {
	switch list := v.(type) {
	case []map[string]any:
		for i, values := range list {
			if t.Kind() == reflect.Struct {
				r.table(at.element(i), values, t)
			}
		}
	case []any:
		for i := range list {
			list[i] = r.value(at.element(i), list[i], t)
		}
	}
	return v
}
