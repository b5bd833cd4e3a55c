package api

import "sync"

// SharedDocument is a document that many read. It does not change any more.
type SharedDocument struct {
	*Document
	// Decoded keeps its value for all who read it; nil: each decodes it.
	Decoded *Decoded
}

// Decoded is the value of one document, once somebody has decoded it.
type Decoded struct {
	once  sync.Once
	value any // nil where it cannot be decoded
}

// Value is the value of a document as a struct of its kind. It is decoded once for all
// who ask for the same type; what it points to is shared with them and must not be changed.
func Value[T any](d SharedDocument) (v T, err error) {
	if d.Decoded != nil {
		d.Decoded.once.Do(func() { // a new document wakes several who read it at the same moment
			if err = d.Decode(&v); err == nil {
				d.Decoded.value = v
			}
		})
		if kept, is := d.Decoded.value.(T); is || err != nil {
			return kept, err
		}
	}
	err = d.Decode(&v)
	return v, err
}

// Keep gives all who ask for a value as its type the one that its writer still has: nobody
// decodes what was just encoded. It reads as the document would, and nobody changes what
// it points to any more.
func Keep(d *Decoded, value any) { d.once.Do(func() { d.value = value }) }
