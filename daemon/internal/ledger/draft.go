package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"fulmen/daemon/api"
)

// Draft is what an owner wants to say. Node, version, time and signature are
// added by the Writer.
type Draft struct {
	// Kind says what it is about.
	Kind api.Kind
	// Name tells the node's documents of one kind apart.
	Name string
	// Value is encoded as JSON; a json.RawMessage is taken as it is.
	Value any
	// Unknown gives, for fields absent from Value, the reason.
	Unknown map[string]api.Reason
	// Simulated says that no real hardware is behind it.
	Simulated bool
	// At is when it was read or decided; zero = now.
	At api.Time
	// Delete ends the key; Value and Unknown are not looked at.
	Delete bool
	// Homes prove, at the end of a job's document, that its writer was the job's home.
	Homes []api.Succession
	// Again publishes it even if it says nothing new. With Delete it marks the
	// end of a key that this ledger does not hold, but others still may.
	Again bool
}

// document is the draft without version and signature.
func (d *Draft) document(now api.Time) (api.Document, error) {
	doc := api.Document{Kind: d.Kind, Name: d.Name, At: d.At, Simulated: d.Simulated, Deleted: d.Delete}
	if doc.At.IsZero() {
		doc.At = now
	}
	if d.Delete {
		return doc, doc.SetHomes(d.Homes)
	}
	if len(d.Unknown) > 0 {
		doc.Unknown = maps.Clone(d.Unknown)
	}
	if raw, ok := d.Value.(json.RawMessage); ok {
		doc.Value = bytes.Clone(raw)
	} else if err := doc.SetValue(d.Value); err != nil {
		return api.Document{}, fmt.Errorf("encode %s %s: %w", d.Kind, d.Name, err)
	}
	return doc, nil
}
