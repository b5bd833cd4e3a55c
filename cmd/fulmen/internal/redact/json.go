package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// fields are the sorts of what fields hold, by a part of their names.
var fields = []struct{ part, sort string }{
	{"ssid", Network}, {"serial", Serial}, {"hardware_id", Serial}, {"uuid", Serial}, {"mac_address", MAC},
	{"host_name", Host}, {"hostname", Host}, {"short_name", Host}, {"user", User},
}

// JSON takes out of a JSON text, by the names of its fields and by what its
// strings look like, and indents it. A text that is no JSON is redacted as text.
func (r *Redactor) JSON(raw []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil || decoder.More() {
		return r.Text(string(raw))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // what was taken out is in <>
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r.value("", v)); err != nil {
		return r.Text(string(raw))
	}
	return out.String()
}

// value redacts a value of the field with a name.
func (r *Redactor) value(field string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if k == "sig" || k == "public_key" || k == "token" {
				continue // of no use to who reads a report
			}
			out[r.Text(k)] = r.value(k, v[k])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.value(field, v[i])
		}
		return out
	case string:
		for _, f := range fields {
			if v != "" && strings.Contains(field, f.part) && !ordinary[strings.ToLower(v)] {
				return r.replace(f.sort, v)
			}
		}
		return r.Text(v)
	}
	return v
}

// Learn takes names to be taken out from the fields of a JSON text, so that
// they are found in others too.
func (r *Redactor) Learn(raw []byte) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		r.learn("", v)
	}
}

func (r *Redactor) learn(field string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			r.learn(k, v[k])
		}
	case []any:
		for i := range v {
			r.learn(field, v[i])
		}
	case string:
		for _, f := range fields {
			if _, err := base64.StdEncoding.DecodeString(v); strings.Contains(field, f.part) && (err != nil || len(v) < 40) {
				r.Add(f.sort, v)
			}
		}
	}
}
