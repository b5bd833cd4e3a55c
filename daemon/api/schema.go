package api

import _ "embed" // for the schema

//go:embed schema.json
var schema string

// Schema is the JSON Schema of the API, made from this package by `go generate`: one
// document of JSON Schema 2020-12, in UTF-8. What it says is what the types and tables
// here say; its description explains the parts that are not JSON Schema's own. The daemon
// serves it under [PathSchema].
func Schema() []byte { return []byte(schema) }
