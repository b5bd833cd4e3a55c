package main

import (
	"reflect"
	"regexp"
	"strings"
)

// field is one field of a struct as it is on the wire.
type field struct {
	// Owner is the struct that declares it.
	Owner reflect.Type
	// GoName is its name in Go.
	GoName string
	// Name is its name on the wire.
	Name string
	// Type is its Go type.
	Type reflect.Type
	// Unit is the end of a number's name that says its unit, such as bytes_per_s; empty = none.
	Unit string
	// Doc is its comment in one line, without the name.
	Doc string
	// Optional says that it may be absent.
	Optional bool
}

var unitSuffix = regexp.MustCompile(`(?:^|_)(bytes_per_s|bits_per_s|bytes|us|s|tflops|watts|celsius|hz|ratio)$`)

// Fields lists a struct's fields as they are on the wire, embedded ones in place.
func (s *source) Fields(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if f.Anonymous && name == "" {
			out = append(out, s.Fields(f.Type)...)
			continue
		}
		line := field{Owner: t, GoName: f.Name, Name: name, Type: f.Type, Optional: options != "",
			Doc: withoutName(f.Name, s.fields[t.Name()][f.Name])}
		if m := unitSuffix.FindStringSubmatch(name); m != nil && isNumber(f.Type) {
			line.Unit = m[1]
		}
		out = append(out, line)
	}
	return out
}

// Key names a field among all, as Struct.Field in Go's names.
func (f field) Key() string { return f.Owner.Name() + "." + f.GoName }

func isNumber(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
}
