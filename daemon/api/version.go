package api

import "cmp"

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
