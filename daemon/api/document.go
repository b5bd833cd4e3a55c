package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"unicode/utf8"
)

// Document is a fact as it is stored, sent and shown. Its value is kept as the
// bytes that its writer signed and is never encoded again; fields of the
// envelope that this version does not know are kept in Extra and passed on.
// The tags are what MarshalJSON writes; they are there for those who derive schemas.
type Document struct {
	// Node is the only writer.
	Node NodeID `json:"node"`
	// Kind says what the value is.
	Kind Kind `json:"kind"`
	// Name tells the node's documents of one kind apart, by the kind's name rule.
	Name string `json:"name"`
	// Inc is the incarnation of the writer, the first half of the Version.
	Inc uint64 `json:"inc"`
	// Seq is the writer's counter over all its documents, the second half of the Version.
	Seq uint64 `json:"seq"`
	// At is when the writer read or decided it, by its own wall clock.
	At Time `json:"at"`
	// Value is a JSON object, in the stable form that CheckStable tells; nil if Deleted.
	Value json.RawMessage `json:"value,omitempty"`
	// Unknown gives, for fields absent from Value, the reason. Inner fields are joined by dots. Under the kind's own name it tells why the source has fallen silent: Value is then what it said last.
	Unknown map[string]Reason `json:"unknown,omitempty"`
	// Simulated says that no real hardware is behind it.
	Simulated bool `json:"simulated,omitempty"`
	// Deleted marks the end of the key; such a document is kept for TombstoneTTL.
	Deleted bool `json:"deleted,omitempty"`
	// Sig is the writer's Ed25519 signature over SigningBytes.
	Sig []byte `json:"sig,omitempty"`
	// Extra are fields of the envelope from a newer version, by name.
	Extra map[string]json.RawMessage `json:"-"`
}

// Key says which document it is a version of.
func (d *Document) Key() Key { return Key{Node: d.Node, Kind: d.Kind, Name: d.Name} }

// Version orders it among all documents of its node.
func (d *Document) Version() Version { return Version{Inc: d.Inc, Seq: d.Seq} }

// SetVersion sets Inc and Seq.
func (d *Document) SetVersion(v Version) { d.Inc, d.Seq = v.Inc, v.Seq }

// SetValue encodes a value in the stable form.
func (d *Document) SetValue(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	d.Value = raw
	return nil
}

// Decode reads the value into a struct of its kind; fields it does not know are skipped.
func (d *Document) Decode(into any) error {
	if err := json.Unmarshal(d.Value, into); err != nil {
		return Errorf(ReasonMalformedDocument, d.Key().String(), "%s: %v", d.Key(), err)
	}
	return nil
}

// Check refuses a document that breaks a rule of the envelope or the name rule
// of its kind. It does not look into the value, which a newer version may have
// extended, nor at the signature.
func (d *Document) Check() error {
	bad := func(problem string) error {
		return Errorf(ReasonMalformedDocument, d.Key().String(), "%s: %s", d.Key(), problem)
	}
	info, isKnown := LookupKind(d.Kind)
	switch {
	case !d.Node.Valid():
		return bad("node is not a node id")
	case !isKindName(string(d.Kind)):
		return bad("kind is not a lower-case word")
	case d.Name != "" && !isPlainName(d.Name):
		return bad("name is too long or holds a character that no name has")
	case !d.Version().Valid():
		return bad("inc and seq must be from 1 to 2^53-1")
	case d.At.IsZero():
		return bad("at is missing")
	case d.Deleted && d.Value != nil:
		return bad("a deleted document has no value")
	case len(d.Value) > MaxValueBytes:
		return NewError(ReasonDocumentTooLarge, d.Key().String())
	case !d.Deleted && (len(d.Value) == 0 || d.Value[0] != '{'):
		return bad("value is not an object")
	case !d.Deleted && CheckStable(d.Value) != nil:
		return bad("value is not in the stable form")
	}
	for field, reason := range d.Unknown {
		if !isPlainName(field) || !isSnakeCase(string(reason)) {
			return bad("unknown must map fields to reasons in snake_case")
		}
	}
	for field, raw := range d.Extra {
		if !isSnakeCase(field) || CheckStable(raw) != nil {
			return bad("extra fields must be snake_case and in the stable form")
		}
	}
	if isKnown {
		return info.Name.Check(d.Name)
	}
	return nil
}

// CheckStable refuses JSON that would not survive Go's encoder byte for byte:
// the stable form has no space between tokens, is valid UTF-8, and writes
// <, >, &, U+2028 and U+2029 as \u escapes, as encoding/json does by itself.
// It is what lets a signed value pass through any number of nodes unchanged.
func CheckStable(raw []byte) error {
	stable, err := json.Marshal(json.RawMessage(raw))
	if err != nil {
		return Errorf(ReasonMalformedDocument, "", "not JSON: %v", err)
	}
	if !utf8.Valid(raw) || !bytes.Equal(stable, raw) {
		return Errorf(ReasonMalformedDocument, "", "JSON is not in the stable form: no spaces, valid UTF-8, <, >, &, U+2028 and U+2029 escaped")
	}
	return nil
}

// isKindName reports whether s is a lower-case word or several joined by single dashes.
func isKindName(s string) bool {
	return isSnakeCase(string(bytes.ReplaceAll([]byte(s), []byte("-"), []byte("_")))) && !bytes.ContainsRune([]byte(s), '_')
}

// Key says which document: the latest version under a key replaces the others.
type Key struct {
	// Node is the only writer.
	Node NodeID `json:"node"`
	// Kind says what it is about.
	Kind Kind `json:"kind"`
	// Name tells the node's documents of one kind apart.
	Name string `json:"name"`
}

// Compare orders by node, kind and name.
func (k Key) Compare(o Key) int {
	if k.Node != o.Node { // most often; and what decides is compared alone
		return cmp.Compare(k.Node, o.Node)
	}
	if k.Kind != o.Kind {
		return cmp.Compare(k.Kind, o.Kind)
	}
	return cmp.Compare(k.Name, o.Name)
}

// String is for logs.
func (k Key) String() string { return string(k.Node) + " " + string(k.Kind) + " " + k.Name }

// KeyVersion names one version of one document.
type KeyVersion struct {
	Key
	Version
}

// MaxCounter bounds Inc and Seq: the largest whole number that every JSON
// reader keeps exactly.
const MaxCounter = 1<<53 - 1

// Version orders the documents of one node. Seq is one counter per node, over
// all its documents. Inc, the incarnation, goes up when the counter may have
// been lost: after state was lost, on joining a cluster, and when a node meets
// a document of its own that is newer than it knows.
type Version struct {
	// Inc is the incarnation, from 1.
	Inc uint64 `json:"inc"`
	// Seq is the sequence number within the incarnation, from 1.
	Seq uint64 `json:"seq"`
}

// Compare orders by incarnation, then by sequence: -1, 0 or +1.
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Inc, o.Inc), cmp.Compare(v.Seq, o.Seq))
}

// Valid reports whether both counters are in range.
func (v Version) Valid() bool {
	return v.Inc >= 1 && v.Inc <= MaxCounter && v.Seq >= 1 && v.Seq <= MaxCounter
}
