package api

import (
	"encoding/json"
	"maps"
	"slices"
)

// envelope is a document without its methods, as encoding/json writes its fields.
type envelope Document

// MarshalJSON writes the envelope with the value's bytes as they are. Extra fields
// follow, sorted by name.
func (d Document) MarshalJSON() ([]byte, error) {
	out, err := json.Marshal(envelope(d))
	if err != nil || len(d.Extra) == 0 {
		return out, err
	}
	out = out[:len(out)-1]
	for _, name := range slices.Sorted(maps.Keys(d.Extra)) {
		out = append(append(append(append(out, ',', '"'), name...), '"', ':'), d.Extra[name]...)
	}
	return append(out, '}'), nil
}

// UnmarshalJSON reads an envelope; names match exactly. What it does not know
// goes to Extra. Missing fields are left at zero, for Check to name.
func (d *Document) UnmarshalJSON(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	*d = Document{}
	for _, f := range []struct {
		name string
		into any
	}{
		{"node", &d.Node}, {"kind", &d.Kind}, {"name", &d.Name}, {"inc", &d.Inc}, {"seq", &d.Seq}, {"at", &d.At},
		{"value", &d.Value}, {"unknown", &d.Unknown}, {"simulated", &d.Simulated}, {"deleted", &d.Deleted}, {"sig", &d.Sig},
	} {
		raw, isThere := fields[f.name]
		if !isThere {
			continue
		}
		delete(fields, f.name)
		if value, is := f.into.(*json.RawMessage); is {
			*value = raw // it was checked with the whole
			continue
		}
		if err := json.Unmarshal(raw, f.into); err != nil {
			return Errorf(ReasonMalformedDocument, f.name, "document field %s: %v", f.name, err)
		}
	}
	if len(fields) > 0 {
		d.Extra = fields
	}
	return nil
}
