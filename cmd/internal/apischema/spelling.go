package main

import (
	"encoding/json"
	"net/netip"
	"reflect"
)

// plainType is a type of the standard library that is one word on the wire.
type plainType struct {
	Name   string
	typ    reflect.Type
	words  string // what the reference calls it
	schema object
	Doc    string
}

func plainTypes() []plainType {
	text := object{{"type", "string"}, {"minLength", 2}}
	return []plainType{
		{"Base64", reflect.TypeFor[[]byte](), "base64", object{{"type", "string"}, {"contentEncoding", "base64"}}, "Bytes in base64, standard alphabet, padded."},
		{"IPAddress", reflect.TypeFor[netip.Addr](), "IP address", text, "An IPv4 or IPv6 address; a link-local one may have a zone after a %."},
		{"IPPrefix", reflect.TypeFor[netip.Prefix](), "IP address/length", text, "An IP address, a slash, and the length of its network's prefix in bits."},
		{"IPPort", reflect.TypeFor[netip.AddrPort](), "IP address:port", text, "An IP address, a colon and a port; IPv6 in brackets."},
	}
}

// spelling is how a type is spelt in what is written.
type spelling[T any] struct {
	plain                          func(p plainType) T
	named                          func(t reflect.Type) T // words, enums and structs
	list, values                   func(element T) T      // values: of an object
	json                           T
	boolean, number, integer, text T
}

// of is what stands where a type stands.
func (s spelling[T]) of(t reflect.Type) T {
	for _, p := range plainTypes() {
		if p.typ == t {
			return s.plain(p)
		}
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return s.json
	case isWord(t), isEnum(t), t.Kind() == reflect.Struct:
		return s.named(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Slice:
		return s.list(s.of(t.Elem()))
	case reflect.Map:
		return s.values(s.of(t.Elem()))
	case reflect.Bool:
		return s.boolean
	case reflect.Float64:
		return s.number
	case reflect.String:
		return s.text
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return s.integer
	}
	panic("no spelling for " + t.String())
}
