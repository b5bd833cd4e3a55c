package schema

import _ "embed" // for the schema

//go:embed schema.json
var document string

// JSON is the schema: one document of JSON Schema 2020-12, in UTF-8.
func JSON() []byte { return []byte(document) }
