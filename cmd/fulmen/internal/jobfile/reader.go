package jobfile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"fulmen/daemon/api"
)

// reader compares the values of a file with the type that they fill.
type reader struct {
	text     string
	node     func(word string) (api.NodeID, error)
	problems []Problem
}

// fail notes a problem. Each line costs a reading of the whole text, and so the
// many of a text that is no job's at all are counted only.
func (r *reader) fail(path []string, format string, args ...any) {
	p := Problem{Message: fmt.Sprintf(format, args...)}
	if len(r.problems) < 2*maxProblems {
		p.Line = lineOf(r.text, path)
	}
	r.problems = append(r.problems, p)
}

// sorted are the problems in the order of their lines.
func (r *reader) sorted() []Problem {
	placed := min(len(r.problems), 2*maxProblems)
	slices.SortStableFunc(r.problems[:placed], func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	if n := len(r.problems); n > maxProblems {
		r.problems = append(r.problems[:maxProblems], Problem{0, fmt.Sprintf("and %d more", n-maxProblems)})
	}
	return r.problems
}

// table checks the keys of a table against the fields of a struct.
func (r *reader) table(path []string, values map[string]any, t reflect.Type) {
	known := fields(t)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		at := append(slices.Clone(path), key)
		field, ok := known[key]
		if !ok {
			names := slices.Sorted(maps.Keys(known))
			meant := near(key, names)
			if meant != "" {
				meant = "; the nearest is " + meant
			}
			r.fail(at, "there is no field %q%s%s; the fields are %s", key, in(path), meant, strings.Join(names, ", "))
			continue
		}
		values[key] = r.value(at, values[key], field)
	}
}

func in(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return " in " + strings.Join(path, ".")
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
func (r *reader) value(path []string, v any, t reflect.Type) any {
	word, isText := v.(string)
	switch {
	case t == nodeType && isText:
		id, err := r.node(word)
		if err != nil {
			r.fail(path, "%s: %s", strings.Join(path, "."), strings.TrimSuffix(api.AsError(err).Message, "."))
		}
		return string(id)
	case isText && t.Implements(enumType):
		if all := reflect.Zero(t).Interface().(api.Enum).Values(); !slices.Contains(all, word) {
			r.fail(path, "%s is one of %s, not %q", strings.Join(path, "."), strings.Join(all, ", "), word)
		}
	case t.Kind() == reflect.Struct:
		if values, ok := v.(map[string]any); ok {
			r.table(path, values, t)
		}
	case t.Kind() == reflect.Slice:
		return r.list(path, v, t.Elem())
	}
	return v
}

func (r *reader) list(path []string, v any, t reflect.Type) any {
	switch list := v.(type) {
	case []map[string]any:
		for _, values := range list {
			if t.Kind() == reflect.Struct {
				r.table(path, values, t)
			}
		}
	case []any:
		for i := range list {
			list[i] = r.value(path, list[i], t)
		}
	}
	return v
}

// found is a value whose reading always fails, so that the TOML reader says where
// it is.
type found struct{}

var errFound = errors.New("here")

// UnmarshalTOML fails.
func (*found) UnmarshalTOML(any) error { return errFound }

// lineOf is the line of a key, or of the nearest table around it; 0 where it is
// not known. The TOML reader tells positions only with errors, and so one is made.
func lineOf(text string, path []string) (line int) {
	defer func() {
		if recover() != nil {
			line = 0 // a key that no struct's tag can hold
		}
	}()
	for ; len(path) > 0; path = path[:len(path)-1] {
		for _, lists := range []bool{false, true} {
			t := reflect.TypeFor[found]()
			for i, key := range slices.Backward(path) {
				if lists && i < len(path)-1 {
					t = reflect.SliceOf(t)
				}
				t = reflect.StructOf([]reflect.StructField{{Name: "X", Type: t, Tag: reflect.StructTag("toml:" + strconv.Quote(key))}})
			}
			_, err := toml.Decode(text, reflect.New(t).Interface())
			if p, ok := errors.AsType[toml.ParseError](err); ok && p.Position.Line > 0 {
				return p.Position.Line
			}
		}
	}
	return 0
}
