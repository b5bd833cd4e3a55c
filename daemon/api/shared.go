package api

import (
	"sync"
	"sync/atomic"
)

// SharedDocument is a document that many read. It does not change any more.
type SharedDocument struct {
	*Document
	// Decoded keeps its value for all who read it; nil: each decodes it.
	Decoded *Decoded
}

// Unshared are documents that each reader decodes.
func Unshared(docs []Document) []SharedDocument {
	all := make([]SharedDocument, len(docs))
	for i := range docs {
		all[i].Document = &docs[i]
	}
	return all
}

// Decoded is the value of one document, once somebody has decoded it.
type Decoded struct {
	decoding sync.Mutex
	value    atomic.Pointer[any]
}

// Value is the value of a document as a struct of its kind. It is decoded once for all
// who ask for the same type; what it points to is shared with them and must not be changed.
func Value[T any](d SharedDocument) (v T, err error) {
	kept := d.Decoded
	if kept == nil {
		kept = &Decoded{}
	}
	if v, is := valueAs[T](kept); is {
		return v, nil
	}
	kept.decoding.Lock() // a new document wakes several who read it at the same moment
	defer kept.decoding.Unlock()
	if v, is := valueAs[T](kept); is {
		return v, nil
	}
	if err := d.Decode(&v); err != nil {
		return v, err
	}
	Keep(kept, v)
	return v, nil
}

// Keep gives all who ask for a value as this type one that its writer still has: nobody
// decodes what was just encoded. It reads as the document would, and nobody changes what
// it points to any more.
func Keep[T any](d *Decoded, value T) {
	var kept any = value
	d.value.CompareAndSwap(nil, &kept)
}

// valueAs is what was decoded before; false where it was not, or as another type.
func valueAs[T any](d *Decoded) (v T, is bool) {
	if kept := d.value.Load(); kept != nil {
		v, is = (*kept).(T)
	}
	return v, is
}
