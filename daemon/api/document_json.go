package api

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
)

// envelopeFields are the fields of a document on the wire, in the order in
// which they are written. Extra fields follow, sorted by name.
func (d *Document) envelopeFields() []envelopeField {
	return []envelopeField{
		{"node", &d.Node, false}, {"kind", &d.Kind, false}, {"name", &d.Name, false},
		{"inc", &d.Inc, false}, {"seq", &d.Seq, false}, {"at", &d.At, false},
		{"value", &d.Value, d.Value == nil}, {"unknown", &d.Unknown, len(d.Unknown) == 0},
		{"simulated", &d.Simulated, !d.Simulated}, {"deleted", &d.Deleted, !d.Deleted},
		{"sig", &d.Sig, len(d.Sig) == 0},
	}
}

type envelopeField struct {
	name  string
	at    any
	empty bool
}

// MarshalJSON writes the envelope with the value's bytes as they are.
func (d Document) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, 384+len(d.Value))
	add := func(name string, raw []byte) {
		sep := byte(',')
		if len(out) == 0 {
			sep = '{'
		}
		out = append(append(append(append(append(out, sep), '"'), name...), '"', ':'), raw...)
	}
	for _, f := range d.envelopeFields() {
		if f.empty {
			continue
		}
		raw, err := f.encode()
		if err != nil {
			return nil, err
		}
		add(f.name, raw)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Extra)) {
		add(name, d.Extra[name])
	}
	return append(out, '}'), nil
}

func (f envelopeField) encode() ([]byte, error) {
	switch v := f.at.(type) {
	case *json.RawMessage:
		return *v, nil
	case *[]byte:
		return []byte(`"` + base64.StdEncoding.EncodeToString(*v) + `"`), nil
	default:
		return json.Marshal(v)
	}
}

// UnmarshalJSON reads an envelope; names match exactly. What it does not know
// goes to Extra. Missing fields are left at zero, for Check to name.
func (d *Document) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	*d = Document{}
	for _, f := range d.envelopeFields() {
		raw, ok := fields[f.name]
		if !ok {
			continue
		}
		delete(fields, f.name)
		if value, isRaw := f.at.(*json.RawMessage); isRaw {
			*value = raw
			continue
		}
		if err := json.Unmarshal(raw, f.at); err != nil {
			return Errorf(ReasonMalformedDocument, f.name, "document field %s: %v", f.name, err)
		}
	}
	if len(fields) > 0 {
		d.Extra = fields
	}
	return nil
}
