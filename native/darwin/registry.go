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

// entryFields is how many fields an entry is written with.
const entryFields = 7

// entries reads what registry.h writes.
func entries(b []byte) ([]entry, error) {
	d := decoder{rest: b}
	var out []entry
	for range d.array() {
		if d.array() != entryFields {
			d.failed = true
		}
		e := readEntry(func() any { return d.value(2) })
		if d.failed || e == nil {
			return nil, fmt.Errorf("%w: the fields of a registry entry", errBuffer)
		}
		out = append(out, *e)
	}
	if !d.done() {
		return nil, errBuffer
	}
	return ordered(out)
}

// readEntry takes the fields of one entry, in their order; nil where one of them is of
// another type.
func readEntry(next func() any) *entry {
	id, isID := next().(int64)
	parent, isParent := next().(int64)
	e := &entry{id: uint64(id), parent: uint64(parent)}
	good := isID && isParent
	for _, into := range []*string{&e.kind, &e.class, &e.name, &e.location} {
		text, isText := next().(string)
		*into, good = text, good && isText
	}
	properties, isMap := next().(map[string]any)
	if e.properties = properties; !good || !isMap {
		return nil
	}
	return e
}

// ordered refuses entries of which one comes twice, or before what it hangs from, so that
// no way through them is endless; 0 is the id of one that was asked for by its path.
func ordered(all []entry) ([]entry, error) {
	seen := map[uint64]bool{0: true}
	for i := range all {
		e := &all[i]
		if e.id != 0 && seen[e.id] || !seen[e.parent] {
			return nil, fmt.Errorf("%w: a registry entry is listed twice, or before its parent", errBuffer)
		}
		seen[e.id] = true
	}
	return all, nil
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
