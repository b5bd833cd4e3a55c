package darwin

import (
	"fmt"
	"slices"
)

// entry is one entry of the I/O Registry with what was read of it.
type entry struct {
	id, parent uint64
	// kind is the base class that it was looked for by, "" for one that only
	// holds others together; class is its own.
	kind, class string
	name        string
	location    string
	properties  map[string]any
}

// entries reads what registry.h writes.
func entries(b []byte) ([]entry, error) {
	list, err := decodeAs[[]any](b)
	if err != nil {
		return nil, err
	}
	return entriesOf(list)
}

// entriesOf reads the lists that entries are written as. Each comes once, after
// what it hangs from, so that no way through them is endless; 0 is the id of one
// that was asked for by its path.
func entriesOf(list []any) ([]entry, error) {
	out := make([]entry, len(list))
	seen := map[uint64]bool{0: true}
	for i, element := range list {
		fields, _ := element.([]any)
		if len(fields) != 7 {
			return nil, fmt.Errorf("%w: an entry of %d fields", errBuffer, len(fields))
		}
		e := &out[i]
		id, isID := fields[0].(int64)
		parent, isParent := fields[1].(int64)
		e.id, e.parent = uint64(id), uint64(parent)
		good := isID && isParent
		for j, into := range []*string{&e.kind, &e.class, &e.name, &e.location} {
			text, isText := fields[2+j].(string)
			*into, good = text, good && isText
		}
		properties, isMap := fields[6].(map[string]any)
		if e.properties = properties; !good || !isMap {
			return nil, fmt.Errorf("%w: an entry's fields", errBuffer)
		}
		if e.id != 0 && seen[e.id] || !seen[e.parent] {
			return nil, fmt.Errorf("%w: an entry that comes twice, or before what it hangs from", errBuffer)
		}
		seen[e.id] = true
	}
	return out, nil
}

// text is a property that is a text and not empty.
func (e *entry) text(key string) (string, bool) {
	s, ok := e.properties[key].(string)
	return s, ok && s != ""
}

// number is a property that is a whole number, 0 or more.
func (e *entry) number(key string) (uint32, bool) {
	n, ok := e.properties[key].(int64)
	return uint32(n), ok && n >= 0 && n <= 1<<32-1
}

// tree is a walk's entries, by whom they hang from and by their ids.
type tree struct {
	all   []entry
	below map[uint64][]int
	byID  map[uint64]int
}

func newTree(all []entry) tree {
	t := tree{all: all, below: map[uint64][]int{}, byID: map[uint64]int{}}
	for i := range all {
		t.below[all[i].parent] = append(t.below[all[i].parent], i)
		if all[i].id != 0 {
			t.byID[all[i].id] = i
		}
	}
	return t
}

// above gives the entries that one hangs from, nearest first.
func (t tree) above(e *entry) []*entry {
	var out []*entry
	for i, there := t.byID[e.parent]; there; i, there = t.byID[t.all[i].parent] {
		out = append(out, &t.all[i])
	}
	return out
}

// children are the entries that hang from one, of those kinds or of all.
func (t tree) children(e *entry, kinds ...string) []*entry {
	var out []*entry
	for _, i := range t.below[e.id] {
		if c := &t.all[i]; len(kinds) == 0 || slices.Contains(kinds, c.kind) {
			out = append(out, c)
		}
	}
	return out
}

// under gives every entry of those kinds at any depth, without looking below
// entries of the kinds at which it stops. An entry comes after what it hangs from.
func (t tree) under(e *entry, kinds, stops []string) []*entry {
	var out []*entry
	for _, c := range t.children(e) {
		if slices.Contains(kinds, c.kind) {
			out = append(out, c)
		}
		if !slices.Contains(stops, c.kind) && c.id != 0 {
			out = append(out, t.under(c, kinds, stops)...)
		}
	}
	return out
}

// roots are the entries of a kind that hang from nothing that was read.
func (t tree) roots(kind string) []*entry {
	return t.children(&entry{}, kind)
}
