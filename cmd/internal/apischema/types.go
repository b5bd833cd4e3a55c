package main

import (
	"encoding"
	"reflect"
	"strings"

	"fulmen/daemon/api"
)

// types are the types that explain themselves by a list: structs by their
// fields, enums by their words.
type types struct {
	// Structs are by name.
	Structs map[string]reflect.Type
	// Enums are by name.
	Enums map[string]reflect.Type
}

// isEnum reports whether a type is a closed set of words.
func isEnum(t reflect.Type) bool { return t.Implements(reflect.TypeFor[api.Enum]()) }

// valuesOf are the words of an enum, in the order in which people read them.
func valuesOf(enum reflect.Type) []string { return reflect.Zero(enum).Interface().(api.Enum).Values() }

// anchor is the name of a type's place in docs/reference.md.
func anchor(t reflect.Type) string { return "type-" + strings.ToLower(t.Name()) }

// loose are the types that travel and that no method, notification or kind leads to.
func loose() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[api.Document](), reflect.TypeFor[api.JobSpec](), reflect.TypeFor[api.Error](),
		reflect.TypeFor[api.Request](), reflect.TypeFor[api.Response](), reflect.TypeFor[api.PeerConn](), reflect.TypeFor[api.PeerModelCopied](),
		reflect.TypeFor[api.APIAddress](), reflect.TypeFor[api.MethodClass](), reflect.TypeFor[api.NameRule](),
		reflect.TypeFor[api.Severity]()}
}

// collect finds the structs and enums in and below some types.
func collect(roots ...reflect.Type) types {
	found := types{Structs: map[string]reflect.Type{}, Enums: map[string]reflect.Type{}}
	for _, t := range roots {
		found.add(t)
	}
	return found
}

func (found types) add(t reflect.Type) {
	switch {
	case isWord(t):
		return
	case isEnum(t):
		found.Enums[t.Name()] = t
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		found.add(t.Elem())
	case reflect.Struct:
		if found.Structs[t.Name()] == t || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return
		}
		found.Structs[t.Name()] = t
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("json") != "-" {
				found.add(t.Field(i).Type)
			}
		}
	}
}

// block is a group of constants with the comment above it.
type block struct {
	// Doc is that comment, in one line.
	Doc string
	// Consts are its exported constants, in the order of the source.
	Consts []constant
}

// constant is one exported constant.
type constant struct {
	// Name is its name in Go.
	Name string
	// Value is its expression as it is written.
	Value string
	// Doc is its comment, in one line; that of the group where it has none.
	Doc string
	typ string
}
