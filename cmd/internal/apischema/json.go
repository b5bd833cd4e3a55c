package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

// object is a JSON object whose fields keep their order, so that the same types
// give the same bytes and a person finds things where they are expected.
type object []member

type member struct {
	name  string
	value any
}

// with adds a field.
func (o object) with(name string, value any) object { return append(o, member{name, value}) }

// withText adds a field unless its text is empty.
func (o object) withText(name, text string) object {
	if text == "" {
		return o
	}
	return o.with(name, text)
}

// encode writes a value, indented; objects and lists of no or one plain element
// stay on a line.
func encode(v any) []byte {
	var out bytes.Buffer
	put(&out, v, 0)
	out.WriteByte('\n')
	return out.Bytes()
}

func put(out *bytes.Buffer, v any, depth int) {
	switch v := v.(type) {
	case object:
		putList(out, "{}", len(v), len(v) == 1 && isPlain(v[0].value), depth, func(i int) {
			put(out, v[i].name, 0)
			out.WriteString(": ")
			put(out, v[i].value, depth+1)
		})
	case []any:
		plain := true
		for _, e := range v {
			plain = plain && isPlain(e)
		}
		putList(out, "[]", len(v), plain, depth, func(i int) { put(out, v[i], depth+1) })
	default:
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil { // only strings, numbers and truth values come here
			panic(err)
		}
		out.Truncate(out.Len() - 1) // the encoder's line end
	}
}

func putList(out *bytes.Buffer, brackets string, n int, inline bool, depth int, element func(i int)) {
	out.WriteByte(brackets[0])
	for i := range n {
		switch {
		case i > 0 && inline:
			out.WriteString(", ")
		case i > 0:
			out.WriteByte(',')
		}
		if !inline {
			out.WriteString("\n" + strings.Repeat("  ", depth+1))
		}
		element(i)
	}
	if n > 0 && !inline {
		out.WriteString("\n" + strings.Repeat("  ", depth))
	}
	out.WriteByte(brackets[1])
}

func isPlain(v any) bool {
	switch v.(type) {
	case object, []any:
		return false
	}
	return true
}

// anys is a list of words as JSON.
func anys[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}
