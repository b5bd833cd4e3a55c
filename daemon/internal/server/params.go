package server

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/native/nearest"
)

// paramsError is parameters that do not fit the method. Its code on the wire is
// JSON-RPC's own.
type paramsError struct{ fault *api.Error }

func (e paramsError) Error() string { return e.fault.Error() }

func (e paramsError) Unwrap() error { return e.fault }

// decodeParams reads the parameters of a request into a struct: an object, with
// fields of exactly these names. encoding/json alone would fold case and drop
// what it does not know, and a misspelt option would be taken for a default.
func decodeParams(raw json.RawMessage, into any) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if raw[0] != '{' {
		return paramsError{api.Errorf(api.ReasonBadValue, "params", "params must be an object.")}
	}
	var given any
	err := json.Unmarshal(raw, &given)
	if err == nil {
		if unknown := checkFields(given, reflect.TypeOf(into).Elem(), ""); unknown != nil {
			return paramsError{unknown}
		}
		err = json.Unmarshal(raw, into)
	}
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*api.Error](err); ok {
		return paramsError{e}
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return paramsError{api.Errorf(api.ReasonBadValue, e.Field, "%s must be %s, not %s.", orParams(e.Field), wanted(e.Type), e.Value)}
	}
	return paramsError{api.Errorf(api.ReasonBadValue, "params", "params are not those of the method.")}
}

// checkFields refuses fields that a type does not have, at any depth. What does not fit in
// another way is left to json.Unmarshal, which says it better.
func checkFields(v any, t reflect.Type, path string) *api.Error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if decodesItself(t) {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		fields := map[string]reflect.Type{}
		if t.Kind() == reflect.Struct {
			collectFields(t, fields)
		} else if t.Kind() != reflect.Map {
			return nil
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			field, ok := fields[key]
			if t.Kind() == reflect.Map {
				field, ok = t.Elem(), true
			}
			if !ok {
				return unknownField(key, path, slices.Sorted(maps.Keys(fields)))
			}
			if err := checkFields(v[key], field, join(path, key)); err != nil {
				return err
			}
		}
	case []any:
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
			return nil
		}
		for i, item := range v {
			if err := checkFields(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// collectFields gathers the JSON names of a struct, those of embedded structs included.
func collectFields(t reflect.Type, into map[string]reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			collectFields(f.Type, into)
		case !f.IsExported() || name == "-":
		case name == "":
			into[f.Name] = f.Type
		default:
			into[name] = f.Type
		}
	}
}

func unknownField(key, path string, known []string) *api.Error {
	e := api.Errorf(api.ReasonUnknownField, join(path, key), "%s has no field %q.", orParams(path), shorten(key))
	if near := nearest.Of(key, known); near != "" {
		e.Message += fmt.Sprintf(" Did you mean %q?", near)
	}
	e.Data.Remedy = "Send an empty object."
	if len(known) > 0 {
		e.Data.Remedy = "Its fields are: " + strings.Join(known, ", ") + "."
	}
	e.Data.Subject = shorten(e.Data.Subject)
	return e
}

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// wanted names a type in JSON's words.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a base64 string"
		}
		return "an array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number from 0"
	}
	return "a whole number"
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func orParams(path string) string {
	if path == "" {
		return "params"
	}
	return shorten(path)
}

// shorten bounds how much of a caller's text an answer repeats.
func shorten(s string) string {
	const most = 64
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
