package servertest

import (
	"encoding/json"
	"sync"

	"fulmen/daemon/api"
)

// record is a document that is encoded once.
type record struct {
	doc  api.Document
	once sync.Once
	raw  []byte
	err  error
}

func (r *record) Key() api.Key  { return r.doc.Key() }
func (r *record) Deleted() bool { return r.doc.Deleted }

func (r *record) JSON() (json.RawMessage, error) {
	r.once.Do(func() { r.raw, r.err = r.doc.MarshalJSON() })
	return r.raw, r.err
}
