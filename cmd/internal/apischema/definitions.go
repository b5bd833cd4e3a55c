package main

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"strconv"

	"fulmen/cmd/internal/apidoc/model"
	"fulmen/daemon/api"
)

// plainType is a type of the standard library that is one word on the wire.
type plainType struct {
	name   string
	typ    reflect.Type
	schema object
	doc    string
}

func plainTypes() []plainType {
	text := object{{"type", "string"}, {"minLength", 2}}
	return []plainType{
		{"Base64", reflect.TypeFor[[]byte](), object{{"type", "string"}, {"contentEncoding", "base64"}}, "Bytes in base64, standard alphabet, padded."},
		{"IPAddress", reflect.TypeFor[netip.Addr](), text, "An IPv4 or IPv6 address; a link-local one may have a zone after a %."},
		{"IPPrefix", reflect.TypeFor[netip.Prefix](), text, "An IP address, a slash, and the length of its network's prefix in bits."},
		{"IPPort", reflect.TypeFor[netip.AddrPort](), text, "An IP address, a colon and a port; IPv6 in brackets."},
	}
}

func wordTypes() []reflect.Type { return model.WordTypes() }

func codeText(c api.Code) string { return strconv.Itoa(int(c)) }

func (c *contract) wordDefinition(t reflect.Type) object {
	schema, ok := wordSchemas()[t]
	if !ok {
		panic("no schema for " + t.Name())
	}
	out := schema.with("description", paragraphs(c.src.Doc(t)))
	if t != reflect.TypeFor[api.Code]() {
		return out
	}
	docs := c.src.Words(t)
	var words object
	for _, code := range api.Codes() {
		words = words.with(codeText(code), docs[codeText(code)])
	}
	return out.with("x-words", words)
}

func (c *contract) enumDefinition(t reflect.Type) object {
	docs := c.src.Words(t)
	var words object
	for _, w := range model.Values(t) {
		words = words.with(w, docs[w])
	}
	return object{{"type", "string"}, {"enum", anys(model.Values(t))}, {"description", paragraphs(c.src.Doc(t))}, {"x-words", words}}
}

func (c *contract) structDefinition(d definition) object {
	out := object{{"type", "object"}, {"description", paragraphs(c.src.Doc(d.typ))}}
	var properties object
	var required []any
	for _, f := range c.src.Fields(d.typ) {
		properties = properties.with(f.Name, c.property(f, d.strict))
		if !optional(f, d.strict) {
			required = append(required, f.Name)
		}
	}
	if properties != nil {
		out = out.with("properties", properties)
	}
	if required != nil {
		out = out.with("required", required)
	}
	out = out.with("additionalProperties", !d.strict)
	switch d.typ {
	case reflect.TypeFor[api.Document]():
		out = append(out, c.documentRules()...)
	case reflect.TypeFor[api.Response]():
		out = out.with("oneOf", []any{object{{"required", []any{"result"}}}, object{{"required", []any{"error"}}}})
	}
	return out
}

// property is one field: its type, and what its name, its comment and the
// contract say beside.
func (c *contract) property(f model.Field, strict bool) object {
	out := slices.Clone(c.typeSchema(f.Type, strict))
	if special, ok := rawFields()[f.Key()]; ok {
		out = special
	}
	if held := holds()[f.Key()]; held != nil {
		out = object{{"type", "object"}, {"x-holds", ref(c.name(held, false))}}
	}
	out = out.withText("description", f.Doc).withText("x-unit", f.Unit)
	if strict {
		out = out.withText("default", defaults()[f.Key()])
	}
	return append(out, bounds(f)...)
}

// typeSchema is what stands where a type stands.
func (c *contract) typeSchema(t reflect.Type, strict bool) object {
	for _, p := range plainTypes() {
		if p.typ == t {
			return ref(p.name)
		}
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return object{}
	case model.IsWord(t), model.IsEnum(t):
		return ref(t.Name())
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.typeSchema(t.Elem(), strict)
	case reflect.Slice:
		return object{{"type", "array"}, {"items", c.typeSchema(t.Elem(), strict)}}
	case reflect.Map:
		return object{{"type", "object"}, {"additionalProperties", c.typeSchema(t.Elem(), strict)}}
	case reflect.Struct:
		return ref(c.name(t, strict))
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Float64:
		return object{{"type", "number"}}
	case reflect.String:
		return object{{"type", "string"}}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object{{"type", "integer"}}
	}
	panic("no schema for " + t.String())
}

// rawFields are the fields of JSON that the API itself says more of.
func rawFields() map[string]object {
	version := object{{"const", api.JSONRPCVersion}}
	return map[string]object{
		"Request.JSONRPC": version, "Response.JSONRPC": version,
		"Request.ID":     {{"type", []any{"string", "integer"}}},
		"Request.Params": {{"type", "object"}},
		"Response.ID":    {{"type", []any{"string", "integer", "null"}}},
		"Document.Value": {{"type", "object"}},
	}
}

// documentRules say that the value is that of the kind, that the name keeps to
// the kind's rule, and that a deleted document has no value.
func (c *contract) documentRules() object {
	isDeleted := object{{"properties", object{{"deleted", object{{"const", true}}}}}, {"required", []any{"deleted"}}}
	rules := []any{object{{"if", isDeleted},
		{"then", object{{"properties", object{{"value", false}}}}}, {"else", object{{"required", []any{"value"}}}}}}
	for _, k := range api.Kinds() {
		rules = append(rules, object{
			{"if", object{{"properties", object{{"kind", object{{"const", string(k.Kind)}}}}}}},
			{"then", object{{"properties", object{{"name", nameSchema(k.Name)}, {"value", ref(c.name(k.Value, false))}}}}},
		})
	}
	return object{{"allOf", rules}}
}
