package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// OpenAPI is the API over HTTP as OpenAPI 3.1 has it, made from the schema: each method as POST,
// and the addresses that stand for one.
func OpenAPI() []byte { return bytes.Clone(openAPI()) }

var openAPI = sync.OnceValue(func() []byte {
	var from struct {
		Defs    object            `json:"$defs"`
		Methods map[string]object `json:"x-methods"`
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(schema, `"#/$defs/`, `"#/components/schemas/`)), &from); err != nil {
		panic(err) // it is compiled in
	}
	from.Defs["Problem"] = object{"allOf": []any{object{"$ref": "#/components/schemas/ErrorData"}, object{
		"type": "object", "required": []any{"type", "title", "status", "detail", "code"}, "additionalProperties": true, "properties": object{
			"type": textSchema, "title": textSchema, "detail": textSchema, "status": object{"type": "integer"}, "code": object{"type": "integer"},
		}}}}
	paths := object{}
	add := func(m MethodInfo, path, verb, id string, parameters ...any) {
		if paths[path] == nil {
			paths[path] = object{}
		}
		one := operation(m, from.Methods[m.Name]["result"], id)
		if verb == "post" {
			one["requestBody"] = object{"content": object{"application/json": object{"schema": from.Methods[m.Name]["params"]}}}
		} else {
			one["parameters"] = parameters
		}
		paths[path].(object)[verb] = one
	}
	for _, m := range Methods() {
		add(m, PathAPI+"/"+m.Name, "post", m.Name)
		switch m.Name {
		case "instance.list":
			add(m, PathInstances, "get", "instances")
		case "instance.apply":
			add(m, PathInstances, "post", "declare")
		case "instance.delete":
			add(m, PathInstances+"/{name}", "delete", "delete", parameter("path", "name", textSchema))
		case "state.watch":
			list := object{"type": "array", "items": textSchema}
			add(m, PathWatch, "get", "watch", parameter("query", "kind", list), parameter("query", "node", list), parameter("header", "Last-Event-ID", textSchema))
		}
	}
	out, err := json.Marshal(object{
		"openapi": "3.1.0", "info": object{"title": "Fulmen API", "version": strings.TrimPrefix(PathAPI, "/v")}, "paths": paths,
		"security": []any{object{"token": []any{}}},
		"components": object{"schemas": from.Defs, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer",
			"description": "Over the Unix socket the system says who calls, and no token is needed."}}},
	})
	if err != nil {
		panic(err) // it was JSON
	}
	return out
})

type object = map[string]any

var textSchema = object{"type": "string"}

func parameter(in, name string, schema object) object {
	return object{"in": in, "name": name, "required": in == "path", "schema": schema}
}

// operation is a way to call a method, but for what it takes.
func operation(m MethodInfo, result any, id string) object {
	content := object{}
	if id != "watch" { // which is a stream alone
		content["application/json"] = object{"schema": result}
	}
	if m.Notifies != "" {
		content["text/event-stream"] = object{"schema": object{"type": "string", "description": "The event result has the method's result, each event " + m.Notifies + " a notification."}}
	}
	return object{
		"operationId": id, "description": m.Doc, "x-method": m.Name, "x-class": m.Class,
		"responses": object{"200": object{"description": "OK", "content": content},
			"default": object{"description": "A problem (RFC 9457).", "content": object{"application/problem+json": object{"schema": object{"$ref": "#/components/schemas/Problem"}}}}},
	}
}
