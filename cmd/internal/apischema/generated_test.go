package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api/schematest"
)

// Where the committed files are.
const (
	apiFolder     = "../../../daemon/api"
	schemaFile    = apiFolder + "/schema.json"
	typesFile     = "../../../assets/dashboard/src/api/types.ts"
	pageFile      = "../../../docs/api.md"
	referenceFile = "../../../docs/reference.md"
)

func readContract(t *testing.T) *contract {
	t.Helper()
	c, err := readAPI(apiFolder)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// validator checks values against the schema.
type validator struct{ schematest.Validator }

// readSchema is the schema as it is made now.
func readSchema(t *testing.T) validator {
	t.Helper()
	parsed, err := schematest.Parse(readContract(t).schema())
	if err != nil {
		t.Fatal(err)
	}
	return validator{schematest.Validator{Root: parsed.(map[string]any)}}
}

func TestGeneratedFilesAreFresh(t *testing.T) {
	is := is.New(t)
	c := readContract(t)
	page, err := c.page(readFile(t, pageFile))
	is.NoErr(err)
	for name, want := range map[string][]byte{schemaFile: c.schema(), typesFile: c.typeScript(), pageFile: page, referenceFile: c.reference()} {
		if !bytes.Equal(readFile(t, name), want) {
			t.Errorf("%s is stale: run go generate ./daemon/api", name)
		}
	}
}

// The same types give the same bytes, whatever the order of maps.
func TestGenerationIsDeterministic(t *testing.T) {
	is := is.New(t)
	for range 3 {
		is.True(bytes.Equal(readContract(t).schema(), readContract(t).schema()))
		is.True(bytes.Equal(readContract(t).typeScript(), readContract(t).typeScript()))
	}
}

func TestPageNeedsItsMarks(t *testing.T) {
	is := is.New(t)
	c := readContract(t)
	page := readFile(t, pageFile)
	for _, mark := range []string{"<!-- table: methods", tableEnd} {
		_, err := c.page(bytes.ReplaceAll(page, []byte(mark), nil))
		is.True(err != nil) // not written over in part
	}
}
