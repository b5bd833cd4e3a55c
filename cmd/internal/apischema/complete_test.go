package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// untraveled are structs with tags that no message carries; fulmen and fulmend
// uninstall tell each other theirs without the daemon.
var untraveled = []string{"ReasonInfo", "InstallPlan", "InstallFile", "UninstallPlan", "UninstallItem", "UninstallResult", "UninstallFailure"}

// Every field with a json tag in the source of daemon/api is a property of its
// struct, looked for in the source and not by the generator's own way.
func TestEveryTagIsThere(t *testing.T) {
	v := readSchema(t)
	defs := v.Root["$defs"].(map[string]any)
	c, script := readContract(t), string(readFile(t, typesFile))
	files, err := filepath.Glob(apiFolder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for owner, tags := range tagsOf(t, name) {
			if slices.Contains(untraveled, owner) {
				continue
			}
			def, _ := defs[owner].(map[string]any)
			properties, _ := def["properties"].(map[string]any)
			for _, tag := range tags {
				found++
				if properties[tag] == nil {
					t.Errorf("%s.%s is not in the schema", owner, tag)
				}
				if c.clients[owner] && !strings.Contains(script, "\n  "+tag+": ") && !strings.Contains(script, "\n  "+tag+"?: ") {
					t.Errorf("%s.%s is not in the TypeScript types", owner, tag)
				}
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d fields were found", found)
	}
}

// tagsOf gives the wire names of the structs in a file.
func tagsOf(t *testing.T, name string) map[string][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	form := regexp.MustCompile(`json:"([^",]+)`)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if st, ok := spec.Type.(*ast.StructType); ok {
			for _, f := range st.Fields.List {
				if f.Tag == nil {
					continue
				}
				if m := form.FindStringSubmatch(f.Tag.Value); m != nil && m[1] != "-" {
					out[spec.Name.Name] = append(out[spec.Name.Name], m[1])
				}
			}
		}
		return true
	})
	return out
}

// Every reference leads to a definition, and nothing is left unexplained.
func TestSchemaIsComplete(t *testing.T) {
	is := is.New(t)
	v := readSchema(t)
	walk(v.Root, nil, func(path []string, get func() any, _ func(any)) {
		if path[len(path)-1] != "$ref" {
			return
		}
		target, isText := get().(string)
		if _, ok := v.Definition(target); isText && !ok {
			t.Errorf("%s leads to %s, which is not there", strings.Join(path, "."), target)
		}
	})
	for name, def := range v.Root["$defs"].(map[string]any) {
		d := def.(map[string]any)
		if text, _ := d["description"].(string); text == "" {
			t.Errorf("%s has no description", name)
		}
		properties, _ := d["properties"].(map[string]any)
		for field, property := range properties {
			if text, _ := property.(map[string]any)["description"].(string); text == "" {
				t.Errorf("%s.%s has no description", name, field)
			}
		}
		words, _ := d["x-words"].(map[string]any)
		for word, text := range words {
			if text == "" {
				t.Errorf("%s: the word %s has no description", name, word)
			}
		}
		if enum, ok := d["enum"].([]any); ok {
			is.Equal(len(words), len(enum))
		}
	}
}

// The tables that the daemon serves are those of daemon/api.
func TestSchemaTables(t *testing.T) {
	is := is.New(t)
	v := readSchema(t)
	table := func(name string) map[string]any { return v.Root[name].(map[string]any) }
	is.Equal(len(table("x-methods")), len(api.Methods()))
	is.Equal(len(table("x-peer-methods")), len(api.PeerMethods()))
	for _, m := range slices.Concat(api.Methods(), api.PeerMethods()) {
		row := v.row("x-methods", "x-peer-methods", m.Name)
		is.Equal(row["class"], string(m.Class))
		is.Equal(row["description"], m.Doc)
		if m.Notifies != "" {
			is.Equal(row["notifies"], m.Notifies)
			is.True(v.row("x-notifications", "x-peer-notifications", m.Notifies) != nil)
		}
	}
	is.Equal(slices.Sorted(maps.Keys(table("x-kinds"))), slices.Sorted(slices.Values(api.Kind("").Values())))
	is.Equal(len(table("x-codes")), len(api.Codes()))
	is.Equal(len(table("x-reasons")), len(api.Reasons()))
	for _, r := range api.Reasons() {
		row := table("x-reasons")[string(r.Reason)].(map[string]any)
		is.Equal(row["text"], r.Text)
		is.Equal(row["absent"] == true, r.Unknown)
	}
}

// The fields that may be left out of parameters are those that the daemon fills in.
func TestDefaults(t *testing.T) {
	is := is.New(t)
	src, err := readSource(apiFolder)
	is.NoErr(err)
	spec := api.JobRequest{}.Spec("j4k2m9xq7", api.Principal{}, api.Time{})
	filled := map[string]string{}
	for _, part := range []any{spec.Program, spec.Placement} {
		v := reflect.ValueOf(part)
		for _, f := range src.Fields(v.Type()) {
			if field := v.FieldByName(f.GoName); !field.IsZero() {
				filled[f.Key()] = field.String()
			}
		}
	}
	filled["JobRequest.Output"] = string(spec.Output)
	is.Equal(defaults(), filled)
}

// Every key of a table by field names a field.
func TestFieldKeys(t *testing.T) {
	c := readContract(t)
	known := map[string]bool{}
	for _, d := range c.structs() {
		for _, f := range c.src.Fields(d.Type) {
			known[f.Key()] = true
		}
	}
	for _, keys := range [][]string{slices.Collect(maps.Keys(defaults())), slices.Collect(maps.Keys(holds())),
		slices.Collect(maps.Keys(rawFields())), slices.Collect(maps.Keys(fieldBounds()))} {
		for _, key := range keys {
			if !known[key] {
				t.Errorf("there is no field %s", key)
			}
		}
	}
}
