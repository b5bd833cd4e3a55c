package main

import (
	"bytes"
	"encoding/json"
	"slices"
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

// MarshalJSON keeps the order of the fields.
func (o object) MarshalJSON() ([]byte, error) {
	out := []byte("{")
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = slices.Concat(out, encode(m.name, ""), []byte(":"), encode(m.value, ""))
	}
	return append(out, '}'), nil
}

// encode writes a value, a line for each part where there is an indent. Only
// objects, lists, strings, numbers and truth values come here.
func encode(v any, indent string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return out.Bytes()
}
