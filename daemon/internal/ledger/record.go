package ledger

import (
	"encoding/json"
	"sync"
	"time"

	"fulmen/daemon/api"
)

// Record is one version of one document as the ledger holds it. It never
// changes and is shared by all readers.
type Record struct {
	doc   api.Document
	since time.Time
	kept  *kept // nil of a deletion, which is sent once, and held for a month
}

// kept is what a record is read as, and sent as, once somebody asked for it.
type kept struct {
	decoded api.Decoded
	once    sync.Once
	json    json.RawMessage
	failed  error
}

func newRecord(doc api.Document, since time.Time) *Record {
	r := &Record{doc: doc, since: since}
	if !doc.Deleted {
		r.kept = &kept{}
	}
	return r
}

// Document is the document. What its fields point to is shared with every
// other reader and must not be changed.
func (r *Record) Document() api.Document { return r.doc }

// Key says which document it is a version of.
func (r *Record) Key() api.Key { return r.doc.Key() }

// Version orders it among the documents of its node.
func (r *Record) Version() api.Version { return r.doc.Version() }

// Deleted reports whether it marks the end of its key.
func (r *Record) Deleted() bool { return r.doc.Deleted }

// Since is when this ledger took it over or published it; zero where it was
// loaded.
func (r *Record) Since() time.Time { return r.since }

// Decode reads the value into a struct of its kind.
func (r *Record) Decode(into any) error { return r.doc.Decode(into) }

// Shared is the document for those who decode it once for all.
func (r *Record) Shared() api.SharedDocument {
	d := api.SharedDocument{Document: &r.doc}
	if r.kept != nil {
		d.Decoded = &r.kept.decoded
	}
	return d
}

// Shared is the value as a struct of its kind. It is decoded once for all who ask
// for the same type, since a document of a job is read by half a dozen of them; what
// it points to is shared with them and must not be changed.
func Shared[T any](r *Record) (T, error) { return api.Value[T](r.Shared()) }

// Read is the value of the document of a key, as [Shared] gives it; false where none is
// held, or it cannot be decoded.
func Read[T any](l *Ledger, key api.Key) (value T, ok bool) {
	record, ok := l.Get(key)
	if !ok {
		return value, false
	}
	value, err := Shared[T](record)
	return value, err == nil
}

// Share gives the value of a record that its writer still has to all who ask for it as
// this type: nobody decodes what was just encoded. It reads as the record would, which is
// no deletion, and nobody changes what it points to any more.
func Share[T any](r *Record, value T) { api.Keep(&r.kept.decoded, value) }

// JSON is the document as it goes over the wire. It is encoded when first
// asked for; the bytes are shared and must not be changed. Those of a deletion are
// not kept.
func (r *Record) JSON() (json.RawMessage, error) {
	k := r.kept
	if k == nil {
		return r.doc.MarshalJSON()
	}
	k.once.Do(func() { k.json, k.failed = r.doc.MarshalJSON() })
	return k.json, k.failed
}

// envelopeBytes is what the fixed fields of a document take at most on the
// wire: their names, two counters of 16 digits, a node id, a time and a
// signature.
const envelopeBytes = 384

// SizeBytes bounds the length of JSON from above without encoding.
func (r *Record) SizeBytes() int {
	// Every byte of a name may be written as a \u escape of six.
	n := envelopeBytes + len(r.doc.Kind) + 6*len(r.doc.Name) + len(r.doc.Value)
	for field, reason := range r.doc.Unknown {
		n += 6*len(field) + len(reason) + 6
	}
	for field, raw := range r.doc.Extra {
		n += len(field) + len(raw) + 4
	}
	return n
}

// isLive reports whether the kind moves all the time while it is watched.
func isLive(k api.Kind) bool {
	info, _ := api.LookupKind(k)
	return info.Live
}

// isInteresting reports whether something begins or ends with the watching of a kind.
func isInteresting(k api.Kind) bool {
	info, _ := api.LookupKind(k)
	return info.Live || info.Fresh
}

// isPersisted reports whether documents of the kind outlive a restart.
func isPersisted(k api.Kind) bool {
	info, _ := api.LookupKind(k)
	return info.Persisted
}
