package shimproto

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encodeObject writes v as one JSON object, with the member t before v's own.
func encodeObject(t string, v any) ([]byte, error) {
	own, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	object := []byte(`{"t":"` + t + `"`)
	if len(own) > len("{}") {
		object = append(object, ',')
	}
	return append(object, own[1:]...), nil
}

var (
	// ErrTooLong is matched when a line or file is longer than allowed. The
	// rest of the stream cannot be trusted after it.
	ErrTooLong = errors.New("too long")
	// ErrVersion is matched when the two sides have no version in common.
	ErrVersion = errors.New("no protocol version in common")
)

// FieldError says which field is wrong and how. Field is the path in the
// message ("usage.user_s", "logs[1].stream"), or "" for the whole of it.
type FieldError struct {
	Field   string
	Problem string
}

// Error reads "field epoch: missing".
func (e *FieldError) Error() string {
	if e.Field == "" {
		return "message: " + e.Problem
	}
	return "field " + e.Field + ": " + e.Problem
}

func badField(field, format string, args ...any) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf(format, args...)}
}

// within puts a prefix before the field of a [FieldError].
func within(prefix string, err error) error {
	var field *FieldError
	if !errors.As(err, &field) {
		return err
	}
	return &FieldError{Field: joinPath(prefix, field.Field), Problem: field.Problem}
}

// UnknownTypeError is a message of a type that this version does not know. The
// stream is intact: a shim refuses the request, a daemon goes on.
type UnknownTypeError struct {
	Type string
}

// Error names the type.
func (e *UnknownTypeError) Error() string { return fmt.Sprintf("unknown message type %.40q", e.Type) }

// decodeObject fills the struct that target points to from one JSON object,
// more strictly than encoding/json does alone: names must match exactly and
// occur once, fields without omitzero must be there, null is no value, and
// every error names its field. Fields that the struct does not have are
// ignored.
func decodeObject(data []byte, target any) error {
	if !utf8.Valid(data) {
		return badField("", "not UTF-8")
	}
	return decodeStruct(data, reflect.ValueOf(target).Elem(), "")
}

func decodeStruct(data []byte, v reflect.Value, path string) error {
	members, err := splitObject(data, path)
	if err != nil {
		return err
	}
	for _, field := range flatFields(v) {
		at := joinPath(path, field.name)
		raw, present := members[field.name]
		if !present {
			if similar := misspelt(members, field.name); similar != "" {
				return badField(at, "is spelled %.40q", similar)
			}
			if field.required {
				return badField(at, "missing")
			}
			continue
		}
		delete(members, field.name)
		if err := decodeValue(raw, field.value, at); err != nil {
			return err
		}
	}
	return nil
}

func decodeValue(raw json.RawMessage, v reflect.Value, at string) error {
	if string(raw) == "null" {
		return badField(at, "is null")
	}
	into := v.Addr().Interface()
	_, reads := into.(json.Unmarshaler)
	switch {
	case reads:
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(raw, v.Elem(), at)
	case v.Kind() == reflect.Struct:
		return decodeStruct(raw, v, at)
	case v.Kind() == reflect.Slice:
		return decodeSlice(raw, v, at)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return badField(at, "%s", plain(err, v.Type()))
	}
	return nil
}

func decodeSlice(raw json.RawMessage, v reflect.Value, at string) error {
	var elements []json.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil {
		return badField(at, "%s", plain(err, v.Type()))
	}
	v.Set(reflect.MakeSlice(v.Type(), len(elements), len(elements)))
	for i, element := range elements {
		if err := decodeValue(element, v.Index(i), at+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
	}
	return nil
}

// splitObject returns the members of an object that nothing follows.
func splitObject(data []byte, path string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil, badField(path, "is not a JSON object")
	}
	members := map[string]json.RawMessage{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, badField(path, "is not a JSON object: %s", plain(err, nil))
		}
		name := key.(string) // the decoder takes nothing else as a key
		if _, twice := members[name]; twice {
			return nil, badField(joinPath(path, name), "given twice")
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, badField(joinPath(path, name), "is not JSON: %s", plain(err, nil))
		}
		members[name] = raw
	}
	if _, err := dec.Token(); err != nil {
		return nil, badField(path, "the object does not end")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, badField(path, "something follows the object")
	}
	return members, nil
}

type flatField struct {
	name     string
	required bool
	value    reflect.Value
}

// flatFields lists the JSON fields of a struct, those of embedded structs
// among them, as encoding/json writes them.
func flatFields(v reflect.Value) []flatField {
	var fields []flatField
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			fields = append(fields, flatFields(v.Field(i))...)
		case name != "-" && field.IsExported():
			fields = append(fields, flatField{name, !strings.Contains(options, "omitzero"), v.Field(i)})
		}
	}
	return fields
}

func misspelt(members map[string]json.RawMessage, name string) string {
	for key := range members {
		if strings.EqualFold(key, name) {
			return key
		}
	}
	return ""
}

func joinPath(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// plain words for what encoding/json says.
func plain(err error, want reflect.Type) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && want != nil {
		return fmt.Sprintf("is %s, not a %s", wrong.Value, kindName(want))
	}
	return err.Error()
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		return "list"
	case reflect.Map:
		return "object"
	case reflect.Float64:
		return "number"
	default:
		return "whole number in range"
	}
}
