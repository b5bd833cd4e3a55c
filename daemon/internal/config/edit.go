package config

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"strconv"
	"strings"

	"fulmen/daemon/api"
	"fulmen/native/tomltext"
)

// Change is a new value for a key.
type Change struct {
	// Key is the key.
	Key string
	// Value is as TOML or JSON have it: a text, a number, or a list of texts. A
	// text is also understood where a number or a list (separated by commas) is
	// wanted. nil takes the key out, which leaves its default.
	Value any
}

// Edit makes changes to the text of a configuration, all or none, and leaves
// the rest of it, comments and order and blanks, as it is. The text has to be
// valid before, and is after; both are checked by reading it.
func Edit(s string, changes []Change) (string, *Parsed, error) {
	parsed, err := Parse(s)
	if err != nil {
		return "", nil, err
	}
	for _, c := range changes {
		f, ok := Lookup(c.Key)
		if !ok {
			e := api.Errorf(api.ReasonConfigUnknownKey, c.Key, "%s",
				sentence("There is no key "+shorten(c.Key)+meant(c.Key, Keys())))
			return "", nil, e.WithRemedy("`fulmen config` lists the keys.")
		}
		if s, err = f.edit(s, c.Value); err != nil {
			return "", nil, err
		}
	}
	if len(changes) > 0 {
		parsed, err = Parse(s)
	}
	return s, parsed, err
}

// edit makes one change. What two keys say together is not looked at: another
// change may still come.
func (f Field) edit(s string, value any) (string, error) {
	values, problem := decode(s)
	layout, err := tomltext.Scan(s)
	if problem != nil || err != nil {
		return "", f.unable()
	}
	path := strings.Split(f.Key, ".")
	want := prune(values)
	var candidates []string
	if value == nil {
		candidates = removals(s, layout, path)
		if candidates == nil {
			return s, nil
		}
		remove(want, path)
		want = prune(want)
	} else {
		if value, err = f.normal(value); err != nil {
			return "", err
		}
		rendered := render(value)
		one, problem := decode("x = " + rendered)
		if problem != nil {
			return "", f.unable()
		}
		if reflect.DeepEqual(lookup(values, path), one["x"]) {
			return s, nil
		}
		put(want, path, one["x"])
		candidates = placements(s, layout, path, rendered)
	}
	for _, edited := range candidates {
		if got, problem := decode(edited); problem == nil && reflect.DeepEqual(prune(got), want) {
			return edited, nil
		}
	}
	return "", f.unable()
}

// normal is a value as the field itself would give it back.
func (f Field) normal(v any) (any, error) {
	switch given := v.(type) {
	case float64: // JSON has no other numbers
		if given == math.Trunc(given) && math.Abs(given) < 1<<53 {
			v = int64(given)
		}
	case int:
		v = int64(given)
	case string:
		switch f.start.(type) {
		case int64:
			if n, err := strconv.ParseInt(strings.TrimSpace(given), 10, 64); err == nil {
				v = n
			}
		case []string:
			v = split(given)
		}
	}
	var c Config
	if err := f.set(&c, v); err != nil {
		return nil, api.Errorf(api.ReasonConfigInvalid, f.Key, "%s", sentence(f.Key+" "+err.Error())).
			WithRemedy(fmt.Sprintf("It is a %s, %s; the default is %s.", f.Type, f.Range, f.Default()))
	}
	return f.get(&c), nil
}

// split reads a list that somebody typed.
func split(s string) any {
	if values, problem := decode("x = " + s); problem == nil && len(values) == 1 {
		if list, ok := values["x"].([]any); ok {
			return list
		}
	}
	out := []string{}
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func (f Field) unable() error {
	return api.Errorf(api.ReasonConfigInvalid, f.Key, "%s cannot be changed automatically, the way the file is written.", f.Key).
		WithRemedy("Change the file with an editor; the daemon notices when it is saved.")
}

// prune copies tables without those that are empty.
func prune(values map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range values {
		if inside, ok := v.(map[string]any); ok {
			if inside = prune(inside); len(inside) == 0 {
				continue
			}
			v = inside
		}
		out[name] = v
	}
	return out
}

func lookup(values map[string]any, path []string) any {
	for _, name := range path[:len(path)-1] {
		values, _ = values[name].(map[string]any)
	}
	return values[path[len(path)-1]]
}

func put(values map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		inside, ok := values[name].(map[string]any)
		if !ok {
			inside = map[string]any{}
			values[name] = inside
		}
		values = inside
	}
	values[path[len(path)-1]] = v
}

func remove(values map[string]any, path []string) {
	for _, name := range path[:len(path)-1] {
		values, _ = values[name].(map[string]any)
	}
	maps.DeleteFunc(values, func(name string, _ any) bool { return name == path[len(path)-1] })
}
