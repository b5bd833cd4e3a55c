package scenario

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"fulmen/native/tomltext"
)

// table is one table of a file while it is read. Every read names the key it
// wants, so that what nobody asked for is known to be a slip.
type table struct {
	path     string // "mac[1]"
	label    string // for people: "mac studio-1"
	values   map[string]any
	base     map[string]any // what a "like" gives where values are silent
	problems *problems
	asked    map[string]bool
}

func newTable(path, label string, values map[string]any, p *problems) *table {
	return &table{path: path, label: label, values: values, problems: p, asked: map[string]bool{}}
}

// fail notes a problem with the key's value.
func (t *table) fail(key, format string, args ...any) {
	t.problems.add(tomltext.Join(t.path, key), "%s%s", t.prefix(), fmt.Sprintf(format, args...))
}

func (t *table) prefix() string {
	if t.label == "" {
		return ""
	}
	return t.label + ": "
}

func (t *table) lookup(key string) (any, bool) {
	t.asked[key] = true
	if value, ok := t.values[key]; ok {
		return value, true
	}
	value, ok := t.base[key]
	return value, ok
}

// read returns the key's value where it is of that type.
func read[T any](t *table, key, example string) (T, bool) {
	value, ok := t.lookup(key)
	typed, fits := value.(T)
	if ok && !fits {
		t.fail(key, "%s = %s is not %s", key, show(value), example)
	}
	return typed, fits
}

func (t *table) text(key string) string {
	text, ok := read[string](t, key, "a text in quotes")
	if ok && text == "" {
		t.fail(key, "%s is an empty text; leave the key out where nothing is known", key)
	}
	return text
}

// required is text whose absence is an error, told with an example.
func (t *table) required(key, example string) string {
	if _, ok := t.lookup(key); !ok {
		t.fail("", "%s is missing; write for example %s = %s", key, key, example)
		return ""
	}
	return t.text(key)
}

func (t *table) flag(key string) *bool {
	if value, ok := read[bool](t, key, "true or false"); ok {
		return &value
	}
	return nil
}

func (t *table) isTrue(key string) bool {
	value := t.flag(key)
	return value != nil && *value
}

// whole reads an integer within limits; nil where the key is absent.
func (t *table) whole(key string, low, high int64) *int64 {
	value, ok := read[int64](t, key, "a whole number")
	if !ok {
		return nil
	}
	if value < low || value > high {
		t.fail(key, "%s = %d is outside %d to %d", key, value, low, high)
		return nil
	}
	return &value
}

func (t *table) count(key string) *int {
	if value := t.whole(key, 0, 10_000); value != nil {
		count := int(*value)
		return &count
	}
	return nil
}

// number reads a positive number, whole or not; 0 where the key is absent.
func (t *table) number(key string) float64 {
	value, ok := t.lookup(key)
	if !ok {
		return 0
	}
	number, isFloat := value.(float64)
	if whole, isWhole := value.(int64); isWhole {
		number, isFloat = float64(whole), true
	}
	if !isFloat || math.IsNaN(number) || number <= 0 || number > 1e18 {
		t.fail(key, "%s = %s is not a number above 0", key, show(value))
		return 0
	}
	return number
}

// texts reads a list of texts.
func (t *table) texts(key string) []string {
	list, _ := read[[]any](t, key, `a list of texts such as ["a", "b"]`)
	var texts []string
	for i, element := range list {
		text, ok := element.(string)
		if !ok {
			t.problems.add(fmt.Sprintf("%s[%d]", tomltext.Join(t.path, key), i), "%s%s holds %s, which is not a text", t.prefix(), key, show(element))
			continue
		}
		texts = append(texts, text)
	}
	return texts
}

// parsed reads a text through one of the package's parsers; the zero value
// where the key is absent or the text is not understood.
func parsed[T any](t *table, key string, parse func(string) (T, error)) (value T) {
	if _, ok := t.lookup(key); !ok {
		return value
	}
	text, ok := read[string](t, key, "a text in quotes")
	if !ok {
		return value
	}
	value, err := parse(text)
	if err != nil {
		t.fail(key, "%s: %s", key, err)
	}
	return value
}

// oneOf reads a word that must be among those, otherwise being the default.
func oneOf[T ~string](t *table, key string, otherwise T, allowed ...T) T {
	word, ok := read[string](t, key, fmt.Sprintf("one of %q", allowed))
	if !ok {
		return otherwise
	}
	if !slices.Contains(allowed, T(word)) {
		t.fail(key, "%s = %q is not one of %q%s", key, word, allowed, didYouMean(word, names(allowed...)))
		return otherwise
	}
	return T(word)
}

// requiredOneOf is oneOf for a key that has no default.
func requiredOneOf[T ~string](t *table, key string, allowed ...T) T {
	if _, ok := t.lookup(key); !ok {
		t.fail("", "%s is missing; it is one of %q", key, allowed)
	}
	return oneOf(t, key, "", allowed...)
}

// tables returns the sub-tables of an array of tables, in the file's order.
func (t *table) tables(key, label string) []*table {
	value, ok := t.lookup(key)
	if !ok {
		return nil
	}
	var found []*table
	for i, values := range asTables(value) {
		path := fmt.Sprintf("%s[%d]", tomltext.Join(t.path, key), i)
		found = append(found, newTable(path, fmt.Sprintf("%s%s %d", t.prefix(), label, i+1), values, t.problems))
	}
	if found == nil {
		t.fail(key, "%s = %s is not a list of tables; write each as [[%s]]", key, show(value), key)
	}
	return found
}

// asTables returns the tables of "[[x]]" and of "x = [{...}]" alike, and
// nothing for anything else.
func asTables(value any) []map[string]any {
	switch list := value.(type) {
	case []map[string]any:
		return list
	case []any:
		var found []map[string]any
		for _, element := range list {
			values, ok := element.(map[string]any)
			if !ok {
				return nil
			}
			found = append(found, values)
		}
		return found
	}
	return nil
}

// done reports every key that nobody asked for.
func (t *table) done() {
	known := slices.Sorted(maps.Keys(t.asked))
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if !t.asked[key] {
			t.fail(key, "unknown key %q%s; it is one of %v", key, didYouMean(key, known), known)
		}
	}
}

// show quotes a value in a message, briefly.
func show(value any) string {
	var text string
	switch v := value.(type) {
	case string:
		return fmt.Sprintf("%.40q", v)
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	case time.Time:
		text = v.Format(time.RFC3339)
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		text = fmt.Sprint(v)
	}
	return fmt.Sprintf("%.40s", text)
}
