package api

import (
	"encoding/json"
	"testing"

	"github.com/matryer/is"
)

// What is served is whole, and is of the API that is compiled in.
func TestSchema(t *testing.T) {
	is := is.New(t)
	var document struct {
		Schema  string `json:"$schema"`
		Methods map[string]struct {
			Class MethodClass `json:"class"`
		} `json:"x-methods"`
	}
	is.NoErr(json.Unmarshal(Schema(), &document))
	is.Equal(document.Schema, "https://json-schema.org/draft/2020-12/schema")
	is.Equal(len(document.Methods), len(Methods()))
	for _, m := range Methods() {
		is.Equal(document.Methods[m.Name].Class, m.Class)
	}
}

// A caller may do with its copy what it likes.
func TestSchemaIsACopy(t *testing.T) {
	is := is.New(t)
	Schema()[0] = 'x'
	is.Equal(Schema()[0], byte('{'))
}
