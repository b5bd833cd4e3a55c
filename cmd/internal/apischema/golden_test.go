package main

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fulmen/daemon/api"
	"fulmen/daemon/api/schematest"
)

// sample is a value of the golden files with the schema that it must fit.
type sample struct {
	name   string
	schema any
	value  any
}

// tables are golden files that no value travels like.
var tables = []string{"table_kinds", "table_reasons", "table_methods", "table_peer_methods", "table_job_phases", "table_rank_phases"}

// samples finds the schema of every value in every golden file of daemon/api.
func samples(t *testing.T, v validator) []sample {
	t.Helper()
	files, err := filepath.Glob(apiFolder + "/testdata/golden/*.json")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d golden files: %v", len(files), err)
	}
	var out []sample
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		value, err := schematest.Parse(readFile(t, file))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, samplesOf(t, v, name, value)...)
	}
	return out
}

func samplesOf(t *testing.T, v validator, name string, value any) []sample {
	t.Helper()
	one := func(def string) []sample { return []sample{{name, def2schema(def), value}} }
	group, rest, _ := strings.Cut(name, "_")
	switch {
	case slices.Contains(tables, name):
		return nil
	case group == "kind", name == "document_deleted":
		return one("Document")
	case group == "error":
		return one("Error")
	case group == "method":
		row := v.row("x-methods", "x-peer-methods", rest)
		parts := value.(map[string]any)
		return []sample{{name + " params", row["params"], parts["params"]}, {name + " result", row["result"], parts["result"]}}
	case group == "notification":
		return []sample{{name, v.row("x-notifications", "x-peer-notifications", rest)["params"], value}}
	case name == "message_lagged":
		return one("StateChanged")
	case name == "message_peer_conn":
		return one("PeerConn")
	case group == "message":
		return []sample{{name, v.Root, value}}
	case name == "job_spec":
		return one("JobSpec")
	case name == "file_api":
		return one("APIAddress")
	case name == "signing":
		return []sample{{name, def2schema("Document"), value.(map[string]any)["document"]}}
	case name == "ids":
		return idSamples(value.(map[string]any))
	}
	t.Errorf("%s.json: nobody knows what it must fit", name)
	return nil
}

func idSamples(ids map[string]any) []sample {
	defs := map[string]string{"node": "NodeID", "cluster": "ClusterID", "job": "JobID", "measurement": "MeasureID", "rank": "RankRef",
		"link_end": "LinkEnd", "link": "LinkID", "principal": "Principal", "peer_address": "PeerAddress", "receptacle": "PortNumber",
		"time": "Time", "key": "Key", "version": "Version"}
	var out []sample
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		out = append(out, sample{"ids " + name, def2schema(defs[name]), ids[name]})
	}
	return out
}

func def2schema(name string) any { return map[string]any{"$ref": "#/$defs/" + name} }

// row is a row of one of two tables.
func (v validator) row(table, other, name string) map[string]any {
	if row, ok := v.Root[table].(map[string]any)[name].(map[string]any); ok {
		return row
	}
	row, _ := v.Root[other].(map[string]any)[name].(map[string]any)
	return row
}

func TestGoldenFilesFit(t *testing.T) {
	v := readSchema(t)
	all := samples(t, v)
	for _, s := range all {
		if err := v.Check(s.schema, s.value, "$"); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
	if want := 2 * (len(api.Methods()) + len(api.PeerMethods())); len(all) < want {
		t.Errorf("only %d values were looked at", len(all))
	}
}

// free are the fields whose value may be anything, as JSON that somebody else
// defines, or that a newer version added.
var free = []string{"value", "default", "set", "params", "result", "facts", "entries", "spec", "next"}

// Whatever leaf of a golden value gets another type, the schema notices.
func TestSpoiledLeavesAreRefused(t *testing.T) {
	v := readSchema(t)
	spoiled := 0
	for _, s := range samples(t, v) {
		walk(s.value, nil, func(path []string, get func() any, set func(any)) {
			if slices.ContainsFunc(path, func(p string) bool { return slices.Contains(free, p) }) {
				return
			}
			good := get()
			set(other(good))
			defer set(good)
			spoiled++
			if v.Check(s.schema, s.value, "$") == nil {
				t.Errorf("%s: %s may be %v", s.name, strings.Join(path, "."), other(good))
			}
		})
	}
	if spoiled < 1000 {
		t.Errorf("only %d values were spoiled", spoiled)
	}
}

// other is a value of another type, which no field with that value may have.
func other(v any) any {
	switch v.(type) {
	case []any, map[string]any:
		return "another"
	}
	return []any{"another"}
}

// walk visits what lies in a value, without the value itself.
func walk(v any, path []string, visit func(path []string, get func() any, set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			here := append(slices.Clone(path), name)
			visit(here, func() any { return v[name] }, func(x any) { v[name] = x })
			walk(v[name], here, visit)
		}
	case []any:
		for i := range v {
			walk(v[i], append(slices.Clone(path), "0"), visit)
		}
	}
}

// An unknown field is refused at any depth of a local method's parameters, and
// kept everywhere else.
func TestUnknownFields(t *testing.T) {
	v := readSchema(t)
	try := func(s sample, want bool) {
		add := func(path string, object map[string]any) {
			object["next_version"] = []any{1.0}
			if fits := v.Check(s.schema, s.value, "$") == nil; fits != want {
				t.Errorf("%s: an unknown field at $%s fits: %v", s.name, path, fits)
			}
			delete(object, "next_version")
		}
		root, ok := s.value.(map[string]any)
		if !ok {
			return
		}
		add("", root)
		walk(s.value, nil, func(path []string, get func() any, _ func(any)) {
			object, ok := get().(map[string]any)
			if _, isMap := object["key"]; ok && !isMap { // in the samples, maps have the one name "key"
				add("."+strings.Join(path, "."), object)
			}
		})
	}
	for _, s := range samples(t, v) {
		method, isParams := strings.CutSuffix(strings.TrimPrefix(s.name, "method_"), " params")
		_, isLocal := api.LookupMethod(method)
		if value, ok := s.value.(map[string]any); ok && value["unknown"] != nil {
			continue // a document's unknown is a map with names of its own
		}
		if !strings.HasPrefix(s.name, "ids") {
			try(s, !isParams || !isLocal)
		}
	}
}

// Every required field is missed, and every number's range is kept.
func TestSpoiledValues(t *testing.T) {
	v := readSchema(t)
	for name, c := range map[string]struct {
		def  string
		good string
		bad  []string
	}{
		"required":       {"JobSelect", `{"job":"j4k2m9xq7"}`, []string{`{}`, `{"job":"J4K2M9XQ7"}`, `{"job":null}`}},
		"ratio":          {"Memory", `{"pressure_stall_ratio":1}`, []string{`{"pressure_stall_ratio":1.01}`, `{"pressure_stall_ratio":-0.1}`}},
		"bytes":          {"Memory", `{"used_bytes":0}`, []string{`{"used_bytes":-1}`, `{"used_bytes":1.5}`, `{"used_bytes":"1"}`}},
		"spread":         {"Timing", `{"runs":2,"spread_ratio":1.3}`, []string{`{"runs":2,"spread_ratio":-1}`}},
		"enum":           {"Memory", `{"pressure":"normal"}`, []string{`{"pressure":"fine"}`, `{"pressure":""}`}},
		"code":           {"Code", `12`, []string{`0`, `13`, `"12"`}},
		"receptacle":     {"PortNumber", `255`, []string{`0`, `256`, `1.5`}},
		"time":           {"Time", `"2026-11-21T11:00:00.123Z"`, []string{`"2026-11-21T11:00:00Z"`, `"2026-11-21T12:00:00.123+01:00"`}},
		"node":           {"NodeID", `"cpv0cwypxp44qw0p"`, []string{`"cpv0-cwyp-xp44-qw0p"`, `"cpv0cwypxp44qw0"`, `"cpv0cwypxp44qw0u"`}},
		"rank":           {"RankRef", `"j4k2m9xq7/2/0"`, []string{`"j4k2m9xq7/0/0"`, `"j4k2m9xq7/2/00"`, `"j4k2m9xq7/2"`}},
		"response":       {"Response", `{"jsonrpc":"2.0","id":null,"result":{}}`, []string{`{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`}},
		"request":        {"Message", `{"jsonrpc":"2.0","id":1,"method":"daemon.info"}`, []string{`{"jsonrpc":"1.0","id":1,"method":"a.b"}`, `{"jsonrpc":"2.0","id":1,"method":"a.b","params":[1]}`, `[]`}},
		"filled in":      {"ProgramParams", `{"command":["true"]}`, []string{`{"comand":["true"]}`}},
		"nothing filled": {"Program", `{"stdin":"none","more":1}`, []string{`{"command":["true"]}`}},
	} {
		t.Run(name, func(t *testing.T) {
			check := func(text string) error {
				value, err := schematest.Parse([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				return v.Check(def2schema(c.def), value, "$")
			}
			if err := check(c.good); err != nil {
				t.Error(err)
			}
			for _, bad := range c.bad {
				if check(bad) == nil {
					t.Errorf("%s is no %s", bad, c.def)
				}
			}
		})
	}
}

// A document has the value and the name of its kind.
func TestSpoiledDocuments(t *testing.T) {
	v := readSchema(t)
	for _, s := range samples(t, v) {
		if !strings.HasPrefix(s.name, "kind_") {
			continue
		}
		doc := s.value.(map[string]any)
		for _, change := range []map[string]any{{"name": "no such name"}, {"value": nil}, {"deleted": true}, {"inc": 0.0}, {"seq": float64(1 << 54)}} {
			spoiled := maps.Clone(doc)
			for name, value := range change {
				if spoiled[name] = value; value == nil {
					delete(spoiled, name)
				}
			}
			if v.Check(s.schema, spoiled, "$") == nil {
				t.Errorf("%s: a document with %v fits", s.name, change)
			}
		}
		walk(doc["value"], nil, func(path []string, get func() any, set func(any)) {
			good := get()
			if slices.Contains(path, "spec") || slices.Contains(path, "facts") || reflect.DeepEqual(good, other(good)) {
				return
			}
			set(other(good))
			defer set(good)
			if v.Check(s.schema, doc, "$") == nil {
				t.Errorf("%s: %s may be %v", s.name, strings.Join(path, "."), other(good))
			}
		})
	}
}
