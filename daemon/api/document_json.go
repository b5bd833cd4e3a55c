package api

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"fulmen/daemon/api/scan"
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
	case *uint64:
		return strconv.AppendUint(nil, *v, 10), nil
	case *NodeID:
		if v.Valid() {
			return quoted(string(*v)), nil
		}
	case *Kind:
		if scan.Plain(*v) {
			return quoted(string(*v)), nil
		}
	case *string:
		if scan.Plain(*v) {
			return quoted(*v), nil
		}
	}
	return json.Marshal(f.at)
}

func quoted(plain string) []byte { return []byte(`"` + plain + `"`) }

// decode reads what most documents have, and leaves the rest to encoding/json.
func (f envelopeField) decode(raw []byte) error {
	text, isPlain := scan.Text(raw)
	switch v := f.at.(type) {
	case *json.RawMessage:
		*v = bytes.Clone(raw)
		return nil
	case *NodeID:
		if isPlain {
			return v.UnmarshalText([]byte(text))
		}
	case *Kind:
		if isPlain {
			*v = Kind(text)
			return nil
		}
	case *string:
		if isPlain {
			*v = text
			return nil
		}
	case *uint64:
		if n, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
			*v = n
			return nil
		}
	case *Time:
		return v.UnmarshalJSON(raw)
	case *[]byte:
		if isPlain {
			sig, err := base64.StdEncoding.DecodeString(text)
			*v = sig
			return err
		}
	}
	return json.Unmarshal(raw, f.at)
}

// UnmarshalJSON reads an envelope; names match exactly. What it does not know
// goes to Extra. Missing fields are left at zero, for Check to name.
func (d *Document) UnmarshalJSON(data []byte) error {
	out, err := Document{}, error(nil)
	fields := out.envelopeFields()
	seen := make([]bool, len(fields))
	isUsual := scan.Object(data, func(name, raw []byte) bool {
		i := slices.IndexFunc(fields, func(f envelopeField) bool { return f.name == string(name) })
		switch {
		case !scan.Plain(name) || i >= 0 && seen[i]:
			return false
		case i >= 0:
			seen[i] = true
			if problem := fields[i].decode(raw); problem != nil && err == nil {
				err = malformedField(fields[i].name, problem)
			}
			return true
		case out.Extra == nil:
			out.Extra = map[string]json.RawMessage{}
		}
		out.Extra[string(name)] = bytes.Clone(raw)
		return true
	})
	if !isUsual {
		return d.unmarshalUnusual(data)
	}
	*d = out
	return err
}

func malformedField(name string, err error) error {
	return Errorf(ReasonMalformedDocument, name, "document field %s: %v", name, err)
}

// unmarshalUnusual reads what is no JSON, says what is wrong with it, and reads an
// envelope whose names are escaped or come twice.
func (d *Document) unmarshalUnusual(data []byte) error {
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
		if err := f.decode(raw); err != nil {
			return malformedField(f.name, err)
		}
	}
	if len(fields) > 0 {
		d.Extra = fields
	}
	return nil
}
