package main

import (
	"reflect"
	"slices"
	"strconv"

	"fulmen/daemon/api"
)

func codeText(c api.Code) string { return strconv.Itoa(int(c)) }

func (c *contract) wordDefinition(w word) object {
	out := w.schema.with("description", paragraphs(c.src.Doc(w.Type)))
	if w.Type != reflect.TypeFor[api.Code]() {
		return out
	}
	var words object
	for _, code := range api.Codes() {
		words = words.with(codeText(code), c.docOf(code))
	}
	return out.with("x-words", words)
}

func (c *contract) enumDefinition(t reflect.Type) object {
	docs := c.src.Words(t)
	var words object
	for _, w := range valuesOf(t) {
		words = words.with(w, docs[w])
	}
	return object{{"type", "string"}, {"enum", valuesOf(t)}, {"description", paragraphs(c.src.Doc(t))}, {"x-words", words}}
}

func (c *contract) structDefinition(d definition) object {
	out := object{{"type", "object"}, {"description", paragraphs(c.src.Doc(d.Type))}}
	var properties object
	var required []any
	for _, f := range c.src.Fields(d.Type) {
		properties = properties.with(f.Name, c.property(f, d.Strict))
		if !optional(f, d.Strict) {
			required = append(required, f.Name)
		}
	}
	if properties != nil {
		out = out.with("properties", properties)
	}
	if required != nil {
		out = out.with("required", required)
	}
	out = out.with("additionalProperties", !d.Strict)
	switch d.Type {
	case reflect.TypeFor[api.Document]():
		out = append(out, c.documentRules()...)
	case reflect.TypeFor[api.Response]():
		out = out.with("oneOf", []any{object{{"required", []any{"result"}}}, object{{"required", []any{"error"}}}})
	}
	return out
}

// property is one field: its type, and what its name, its comment and the
// contract say beside.
func (c *contract) property(f field, strict bool) object {
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
	word := func(name string) object { return object{{"type", name}} }
	return spelling[object]{
		plain:  func(p plainType) object { return ref(p.Name) },
		named:  func(t reflect.Type) object { return ref(c.name(t, strict)) },
		list:   func(element object) object { return object{{"type", "array"}, {"items", element}} },
		values: func(element object) object { return object{{"type", "object"}, {"additionalProperties", element}} },
		json:   object{}, boolean: word("boolean"), number: word("number"), integer: word("integer"), text: word("string"),
	}.of(t)
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
