package client

import (
	"maps"
	"slices"

	"fulmen/daemon/api"
)

// Event is one step of a watch.
type Event struct {
	// Snapshot says that Put is everything there is, and what was known before
	// is to be forgotten: it is the first event, and the first after an
	// interruption.
	Snapshot bool
	// Put are new and changed documents.
	Put []api.Document
	// Del are the documents that are gone.
	Del []api.Key
	// Stale are the nodes that cannot be reached; nil where that did not change.
	Stale []api.NodeID
}

// View is what a watch has said so far, for those who want the state and not
// the steps. The zero value is empty.
type View struct {
	docs  map[api.Key]api.Document
	stale []api.NodeID
}

// Apply takes an event in.
func (v *View) Apply(e Event) {
	if e.Snapshot || v.docs == nil {
		v.docs = map[api.Key]api.Document{}
	}
	for _, d := range e.Put {
		v.docs[d.Key()] = d
	}
	for _, k := range e.Del {
		delete(v.docs, k)
	}
	if e.Stale != nil || e.Snapshot {
		v.stale = e.Stale
	}
}

// Docs are the documents, ordered by node, kind and name.
func (v *View) Docs() []api.Document {
	return slices.SortedFunc(maps.Values(v.docs), func(a, b api.Document) int { return a.Key().Compare(b.Key()) })
}

// Get finds a document.
func (v *View) Get(k api.Key) (api.Document, bool) {
	d, ok := v.docs[k]
	return d, ok
}

// Stale are the nodes that cannot be reached.
func (v *View) Stale() []api.NodeID { return v.stale }
