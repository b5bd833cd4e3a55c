package model

import (
	"encoding"
	"reflect"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// Types are the types that explain themselves by a list: structs by their
// fields, enums by their words.
type Types struct {
	// Structs are by name.
	Structs map[string]reflect.Type
	// Enums are by name.
	Enums map[string]reflect.Type
}

// WordTypes are the types that are one word on the wire, and the code, which is
// one number, in the order in which people read of them.
func WordTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[api.NodeID](), reflect.TypeFor[api.ClusterID](), reflect.TypeFor[api.JobID](),
		reflect.TypeFor[api.MeasureID](), reflect.TypeFor[api.RankRef](), reflect.TypeFor[api.Receptacle](),
		reflect.TypeFor[api.LinkEnd](), reflect.TypeFor[api.LinkID](), reflect.TypeFor[api.Principal](),
		reflect.TypeFor[api.PeerAddress](), reflect.TypeFor[api.Time](), reflect.TypeFor[api.NodeRef](),
		reflect.TypeFor[api.LinkRef](), reflect.TypeFor[api.Subscription](), reflect.TypeFor[api.Reason](),
		reflect.TypeFor[api.Code](),
	}
}

// IsWord reports whether a type is one of WordTypes.
func IsWord(t reflect.Type) bool { return slices.Contains(WordTypes(), t) }

// IsEnum reports whether a type is a closed set of words.
func IsEnum(t reflect.Type) bool { return t.Implements(reflect.TypeFor[api.Enum]()) }

// Values are the words of an enum, in the order in which people read them.
func Values(enum reflect.Type) []string { return reflect.Zero(enum).Interface().(api.Enum).Values() }

// Anchor is the name of a type's place in docs/reference.md.
func Anchor(t reflect.Type) string { return "type-" + strings.ToLower(t.Name()) }

// Loose are the types that travel and that no method, notification or kind leads to.
func Loose() []reflect.Type {
	return []reflect.Type{reflect.TypeFor[api.Document](), reflect.TypeFor[api.JobSpec](), reflect.TypeFor[api.Error](),
		reflect.TypeFor[api.Request](), reflect.TypeFor[api.Response](), reflect.TypeFor[api.PeerConn](),
		reflect.TypeFor[api.APIAddress](), reflect.TypeFor[api.MethodClass](), reflect.TypeFor[api.NameRule](),
		reflect.TypeFor[api.Severity]()}
}

// Collect finds the structs and enums in and below some types.
func Collect(roots ...reflect.Type) Types {
	found := Types{Structs: map[string]reflect.Type{}, Enums: map[string]reflect.Type{}}
	for _, t := range roots {
		found.add(t)
	}
	return found
}

func (found Types) add(t reflect.Type) {
	switch {
	case IsWord(t):
		return
	case IsEnum(t):
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

// Block is a group of constants with the comment above it.
type Block struct {
	// Doc is that comment, in one line.
	Doc string
	// Consts are its exported constants, in the order of the source.
	Consts []Constant
}

// Constant is one exported constant.
type Constant struct {
	// Name is its name in Go.
	Name string
	// Value is its expression as it is written.
	Value string
	// Doc is its comment, in one line; that of the group where it has none.
	Doc string
	typ string
}
