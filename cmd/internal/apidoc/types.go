package main

import (
	"encoding"
	"encoding/json"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// idTypes are the types that are one word on the wire, in the order of the reference.
func idTypes() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[api.NodeID](), reflect.TypeFor[api.ClusterID](), reflect.TypeFor[api.JobID](),
		reflect.TypeFor[api.MeasureID](), reflect.TypeFor[api.RankRef](), reflect.TypeFor[api.Receptacle](),
		reflect.TypeFor[api.LinkEnd](), reflect.TypeFor[api.LinkID](), reflect.TypeFor[api.Principal](),
		reflect.TypeFor[api.PeerAddress](), reflect.TypeFor[api.Time](), reflect.TypeFor[api.NodeRef](),
		reflect.TypeFor[api.LinkRef](), reflect.TypeFor[api.Subscription](), reflect.TypeFor[api.Reason](),
		reflect.TypeFor[api.Code](),
	}
}

// field is one line of a table of fields.
type field struct {
	name, typ, unit, doc string
	optional             bool
}

var unitSuffix = regexp.MustCompile(`(?:^|_)(bytes_per_s|bits_per_s|bytes|us|s|tflops|watts|celsius|hz|ratio)$`)

// fields lists a struct's fields as they are on the wire, embedded ones in place.
func (s *source) fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if f.Anonymous && name == "" {
			out = append(out, s.fieldsOf(f.Type)...)
			continue
		}
		line := field{name: name, typ: typeText(f.Type), optional: options != "",
			doc: withoutName(f.Name, s.fields[t.Name()][f.Name])}
		if m := unitSuffix.FindStringSubmatch(name); m != nil && isNumber(f.Type) {
			line.unit = unitText(m[1])
		}
		out = append(out, line)
	}
	return out
}

func unitText(suffix string) string {
	switch suffix {
	case "bytes_per_s":
		return "bytes/s"
	case "bits_per_s":
		return "bits/s"
	case "us":
		return "µs"
	case "tflops":
		return "TFLOPS"
	case "watts":
		return "W"
	case "celsius":
		return "°C"
	case "hz":
		return "Hz"
	case "ratio":
		return "0 to 1"
	}
	return suffix
}

func isNumber(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
}

// typeText is a type in the words of the reference, with links to its parts.
func typeText(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "JSON"
	case t == reflect.TypeFor[[]byte]():
		return "base64"
	case t == reflect.TypeFor[netip.Addr]():
		return "IP address"
	case t == reflect.TypeFor[netip.Prefix]():
		return "IP address/length"
	case t == reflect.TypeFor[netip.AddrPort]():
		return "IP address:port"
	case slices.Contains(idTypes(), t), t.Implements(reflect.TypeFor[api.Enum]()):
		return link(t)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeText(t.Elem())
	case reflect.Slice:
		return "list of " + typeText(t.Elem())
	case reflect.Map:
		return "object, values " + typeText(t.Elem())
	case reflect.Struct:
		return link(t)
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "string"
	}
	return "integer"
}

func link(t reflect.Type) string { return "[" + t.Name() + "](#" + anchor(t) + ")" }

func anchor(t reflect.Type) string { return "type-" + strings.ToLower(t.Name()) }

// collect finds the structs and enums below a type that the reference explains.
func collect(t reflect.Type, structs, enums map[string]reflect.Type) {
	switch {
	case slices.Contains(idTypes(), t):
		return
	case t.Implements(reflect.TypeFor[api.Enum]()):
		enums[t.Name()] = t
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collect(t.Elem(), structs, enums)
	case reflect.Struct:
		if structs[t.Name()] == t || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return
		}
		structs[t.Name()] = t
		for i := range t.NumField() {
			if t.Field(i).Tag.Get("json") != "-" {
				collect(t.Field(i).Type, structs, enums)
			}
		}
	}
}
