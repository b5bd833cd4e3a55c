package redact

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// place is where a value stands: its type, nil where it is not known, and the name of
// the place as api.Harmless has it.
type place struct {
	t    reflect.Type
	name string
	rule api.NameRule // of a document's name
}

// JSON replaces what is not harmless in a JSON text that holds a value of a type, and
// indents it. A text that is no JSON is replaced as a whole.
func (r *Redactor) JSON(t reflect.Type, raw []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil || decoder.More() {
		return r.Text(string(raw))
	}
	out, err := json.MarshalIndent(r.value(place{t: t}, v), "", "  ")
	if err != nil {
		return r.Text(string(raw))
	}
	return string(out)
}

// useless are the places that help nobody who reads a report: signatures, and what the
// documentation says too.
var useless = map[string]bool{"Document.sig": true, "Job.spec_sig": true, "ConfigKey.doc": true}

// value replaces what is not harmless in a decoded value. Numbers and truth values are.
func (r *Redactor) value(at place, v any) any {
	for at.t != nil && (at.t.Kind() == reflect.Pointer || at.t.Kind() == reflect.Slice) {
		at.t = at.t.Elem()
	}
	switch v := v.(type) {
	case map[string]any:
		parent, fields := at, fieldsOf(at.t, v)
		out := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			at, known := fields[key]
			if useless[at.name] {
				continue
			}
			shown := key
			if !known {
				at, shown = elementOf(parent), r.key(parent, key)
			}
			out[shown] = r.value(at, v[key])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.value(at, v[i])
		}
		return out
	case string:
		return r.text(at, v)
	}
	return v
}

// elementOf is the place of what a map, or a struct of a newer version, has under a key.
func elementOf(at place) place {
	if at.t == nil || at.t.Kind() != reflect.Map {
		return place{name: at.name}
	}
	return place{t: at.t.Elem(), name: at.name}
}

// key replaces the parts of a map's key between dots.
func (r *Redactor) key(at place, key string) string {
	parts := strings.Split(key, ".")
	for i, part := range parts {
		parts[i] = r.text(place{name: at.name + "{}"}, part)
	}
	return strings.Join(parts, ".")
}

// text replaces a text that is not harmless where it stands.
func (r *Redactor) text(at place, s string) string {
	reason, subject, hasSubject := strings.Cut(s, "/")
	switch {
	case at.rule == api.NameCondition && api.Harmless(reflect.TypeFor[api.Reason](), "", reason):
		if !hasSubject {
			return s
		}
		return reason + "/" + r.text(place{name: "Condition.subject"}, subject)
	case isID(at.rule, s), at.rule == "" && api.Harmless(at.t, at.name, s):
		return s
	}
	return r.replace(sortOf(at), s)
}

// isID reports whether the name of a document is made of ids and numbers alone.
func isID(rule api.NameRule, s string) bool {
	switch rule {
	case api.NameEmpty, api.NamePortNumber, api.NameLink, api.NameJob, api.NameRank, api.NameHolder, api.NameNode:
		return rule.Check(s) == nil
	case api.NamePath:
		return api.NameLink.Check(s) == nil
	}
	return false
}

// sortOf is the word for what is replaced at a place.
func sortOf(at place) string {
	if at.t == reflect.TypeFor[api.ClusterID]() {
		return "cluster"
	}
	switch at.name[strings.LastIndexByte(at.name, '.')+1:] {
	case "user", "account":
		return "user"
	case "cluster":
		return "cluster"
	case "name", "short_name", "peer_name":
		return "name"
	}
	return "text"
}

// fieldsOf are the places of a struct's fields by their JSON names, embedded ones
// included. A document says itself what its value and its name are.
func fieldsOf(t reflect.Type, v map[string]any) map[string]place {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]place{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(fields, fieldsOf(f.Type, v))
		case f.Type == reflect.TypeFor[json.RawMessage]():
			fields[name] = place{name: t.Name() + "." + name}
		case name != "-" && f.IsExported():
			fields[name] = place{t: f.Type, name: t.Name() + "." + name}
		}
	}
	kind, _ := v["kind"].(string)
	info, _ := api.LookupKind(api.Kind(kind))
	switch t {
	case reflect.TypeFor[api.Document](), reflect.TypeFor[api.Key]():
		fields["name"] = place{name: "Key.name", rule: info.Name}
		if t == reflect.TypeFor[api.Document]() {
			fields["value"] = place{t: info.Value, name: "Document.value"}
		}
	case reflect.TypeFor[api.PlanInput]():
		fields["facts"] = place{t: info.Value, name: "PlanInput.facts"}
	case reflect.TypeFor[api.Job]():
		fields["spec"] = place{t: reflect.TypeFor[api.JobSpec](), name: "Job.spec"}
	}
	return fields
}
