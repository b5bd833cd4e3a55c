package schema

import (
	"encoding/json"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// What is served is whole, and is of the API that is compiled in.
func TestJSON(t *testing.T) {
	is := is.New(t)
	var document struct {
		Schema  string `json:"$schema"`
		Methods map[string]struct {
			Class api.MethodClass `json:"class"`
		} `json:"x-methods"`
	}
	is.NoErr(json.Unmarshal(JSON(), &document))
	is.Equal(document.Schema, "https://json-schema.org/draft/2020-12/schema")
	is.Equal(len(document.Methods), len(api.Methods()))
	for _, m := range api.Methods() {
		is.Equal(document.Methods[m.Name].Class, m.Class)
	}
}

// A caller may do with its copy what it likes.
func TestJSONIsACopy(t *testing.T) {
	is := is.New(t)
	JSON()[0] = 'x'
	is.Equal(JSON()[0], byte('{'))
}
