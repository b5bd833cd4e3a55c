package nativetest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"fulmen/native"
)

// factPath names one fact of a machine's snapshot by the names of its JSON:
// area "thunderbolt", path "ports[receptacle=2].negotiated.tx_bits_per_s". An
// element of a list is named by a field of its own or by its place from 0;
// naming none, or more than one, is no element.
type factPath struct {
	mac      string
	area     native.Area
	segments []segment
	// leaf is the Go type of the fact, without its pointer.
	leaf reflect.Type
	// optional is true for a fact whose absence needs no reason.
	optional bool
}

// segment is one name of a path, and which element where it is a list.
type segment struct {
	name   string
	filter *filter
}

// filter selects one element of a list: by its place, or, where key is set, by
// a field's value.
type filter struct {
	place int
	key   string
	value string
}

// String writes the path as scripts do.
func (p factPath) String() string {
	words := make([]string, len(p.segments))
	for i, s := range p.segments {
		words[i] = s.String()
	}
	return strings.TrimSpace(p.mac + " " + string(p.area) + " " + strings.Join(words, "."))
}

// String writes the segment as scripts do.
func (s segment) String() string {
	switch {
	case s.filter == nil:
		return s.name
	case s.filter.key != "":
		return s.name + "[" + s.filter.key + "=" + s.filter.value + "]"
	}
	return s.name + "[" + strconv.Itoa(s.filter.place) + "]"
}

// parseFactPath reads a path and holds it against the types of the facts, so
// that a fact that nobody knows is an error of the script and not one that is
// for ever absent. Empty text is the area itself.
func parseFactPath(mac string, area native.Area, text string) (factPath, error) {
	field, ok := jsonField(reflect.TypeFor[native.Snapshot](), string(area))
	if !ok {
		return factPath{}, fmt.Errorf("a snapshot has no %s", area)
	}
	// An area that was asked for is there or explained: never optional.
	p := factPath{mac: mac, area: area, leaf: plain(field.Type)}
	if text == "" {
		return p, nil
	}
	for _, word := range splitPath(text) {
		s, err := parseSegment(word)
		if err == nil {
			err = p.descend(s)
		}
		if err != nil {
			return factPath{}, fmt.Errorf("path %.80q: %w", text, err)
		}
	}
	return p, nil
}

// splitPath cuts at the dots outside of brackets: an address has dots too.
func splitPath(text string) []string {
	var words []string
	begin, depth := 0, 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == '.' && depth == 0:
			words = append(words, text[begin:i])
			begin = i + 1
		}
	}
	return append(words, text[begin:])
}

func parseSegment(word string) (segment, error) {
	name, rest, bracket := strings.Cut(word, "[")
	if !isName(name) {
		return segment{}, fmt.Errorf("%.40q is not the name of a fact", name)
	}
	if !bracket {
		return segment{name: name}, nil
	}
	inside, ok := strings.CutSuffix(rest, "]")
	if !ok || strings.ContainsAny(inside, "[]") {
		return segment{}, fmt.Errorf("%.40q: want NAME[KEY=VALUE] or NAME[PLACE]", word)
	}
	if key, value, ok := strings.Cut(inside, "="); ok {
		if !isName(key) || value == "" {
			return segment{}, fmt.Errorf("%.40q: want NAME[KEY=VALUE]", word)
		}
		return segment{name, &filter{key: key, value: value}}, nil
	}
	place, err := strconv.Atoi(inside)
	if err != nil || place < 0 || strconv.Itoa(place) != inside {
		return segment{}, fmt.Errorf("%.40q: %.40q is not a place in a list, from 0", word, inside)
	}
	return segment{name, &filter{place: place}}, nil
}

// descend appends a segment after it was found in the type that the path has
// come to.
func (p *factPath) descend(s segment) error {
	if kindOf(p.leaf) != kindObject {
		return fmt.Errorf("%s: nothing lies below it", p.lastName())
	}
	field, ok := jsonField(p.leaf, s.name)
	if !ok {
		return fmt.Errorf("%s has no %s", p.lastName(), s.name)
	}
	_, explains := jsonField(p.leaf, "unknown")
	p.leaf, p.optional = plain(field.Type), !explains || field.Tag.Get("native") == "optional"
	if s.filter != nil {
		if kindOf(p.leaf) != kindList {
			return fmt.Errorf("%s is not a list", s.name)
		}
		p.leaf = plain(p.leaf.Elem())
		if key := s.filter.key; key != "" {
			of, ok := jsonField(p.leaf, key)
			if !ok {
				return fmt.Errorf("an element of %s has no %s", s.name, key)
			}
			if k := kindOf(plain(of.Type)); k == kindObject || k == kindList {
				return fmt.Errorf("%s of %s is a %s, by which no element is named", key, s.name, k)
			}
		}
	}
	p.segments = append(p.segments, s)
	return nil
}

func (p *factPath) lastName() string {
	if len(p.segments) == 0 {
		return string(p.area)
	}
	return p.segments[len(p.segments)-1].name
}

// kind is what a fact is in JSON.
type kind string

const (
	kindText    kind = "text"
	kindNumber  kind = "number"
	kindYesNo   kind = "boolean"
	kindList    kind = "list"
	kindObject  kind = "object"
	kindUnknown kind = "value of a kind that scripts do not compare"
)

func kindOf(t reflect.Type) kind {
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return kindText
	}
	switch t.Kind() {
	case reflect.String:
		return kindText
	case reflect.Bool:
		return kindYesNo
	case reflect.Int, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Float64:
		return kindNumber
	case reflect.Slice:
		return kindList
	case reflect.Struct:
		return kindObject
	}
	return kindUnknown
}

func plain(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// jsonField finds the field that has that name in JSON.
func jsonField(t reflect.Type, name string) (reflect.StructField, bool) {
	if t.Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	for i := range t.NumField() {
		field := t.Field(i)
		tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.IsExported() && tag == name && tag != "-" {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

// isName holds for snake_case words.
func isName(word string) bool {
	return word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// gap is a fact that is not there: where the path ended, and why.
type gap struct {
	// at is the segment that was not found.
	at segment
	// last is true where nothing but the path's last segment is missing.
	last bool
	// element is true where the list is there and the element is not.
	element bool
	// matches is how many elements the filter found instead of one.
	matches int
	// reason is what the snapshot gives for the absence; "" for none.
	reason native.Reason
}

// String says what is not there.
func (g gap) String() string {
	switch {
	case g.element:
		return fmt.Sprintf("%d elements are %s", g.matches, g.at)
	case g.reason != "":
		return fmt.Sprintf("%s is absent: %s", g.at.name, g.reason)
	}
	return fmt.Sprintf("%s is absent without a reason", g.at.name)
}

// lookUp follows the path through a snapshot's JSON.
func (p factPath) lookUp(s native.Snapshot) (any, *gap, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var at any
	if err := decoder.Decode(&at); err != nil {
		return nil, nil, err
	}
	for i, s := range append([]segment{{name: string(p.area)}}, p.segments...) {
		var missing *gap
		if at, missing = follow(at, s); missing != nil {
			missing.last = i == len(p.segments)
			return nil, missing, nil
		}
	}
	return at, nil, nil
}

// follow goes down one segment.
func follow(from any, s segment) (any, *gap) {
	object, _ := from.(map[string]any)
	value, ok := object[s.name]
	if !ok {
		reasons, _ := object["unknown"].(map[string]any)
		reason, _ := reasons[s.name].(string)
		return nil, &gap{at: s, reason: native.Reason(reason)}
	}
	if s.filter == nil {
		return value, nil
	}
	elements, _ := value.([]any)
	var found []any
	for place, element := range elements {
		if s.filter.selects(place, element) {
			found = append(found, element)
		}
	}
	if len(found) != 1 {
		return nil, &gap{at: s, element: true, matches: len(found)}
	}
	return found[0], nil
}

func (f filter) selects(place int, element any) bool {
	if f.key == "" {
		return place == f.place
	}
	object, _ := element.(map[string]any)
	value, ok := object[f.key]
	return ok && fmt.Sprint(value) == f.value
}
