package ledger

import (
	"slices"

	"fulmen/daemon/api"
)

// Filter says which documents. The zero value is all that are not deleted.
type Filter struct {
	// Kinds are the kinds wanted; empty = all, also those this version does not know.
	Kinds []api.Kind
	// Nodes are the nodes wanted; empty = all.
	Nodes []api.NodeID
	// Deleted gives deletions as documents, for whoever passes them on. Without
	// it a deleted document is absent from snapshots and a key in Change.Del.
	Deleted bool
}

// clean copies the filter, sorted and without repetitions.
func (f Filter) clean() Filter {
	f.Kinds = sortedSet(f.Kinds)
	f.Nodes = sortedSet(f.Nodes)
	return f
}

func sortedSet[T api.Kind | api.NodeID](all []T) []T {
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}

// wants reports whether a clean filter covers the key.
func (f *Filter) wants(k *api.Key) bool {
	return has(f.Kinds, k.Kind) && has(f.Nodes, k.Node)
}

// has searches a sorted list, however long somebody made it; an empty one has all.
func has[T api.Kind | api.NodeID](all []T, one T) bool {
	if len(all) == 0 {
		return true
	}
	_, ok := slices.BinarySearch(all, one)
	return ok
}

// shows reports whether a snapshot by the filter has the record.
func (f *Filter) shows(k *api.Key, r *Record) bool {
	return (f.Deleted || !r.doc.Deleted) && f.wants(k)
}

// Named is what nodes hold of one kind by one name, ordered by node: the documents
// of one job, for instance. Unlike List it does not look at everything else.
// Deletions are among them where isDeleted says so.
func (l *Ledger) Named(kind api.Kind, name string, isDeleted bool) []*Record {
	var found []*Record
	l.mu.RLock()
	for node := range l.nodes {
		e, ok := l.entries[api.Key{Node: node, Kind: kind, Name: name}]
		if ok && (isDeleted || !e.rec.doc.Deleted) {
			found = append(found, e.rec)
		}
	}
	l.mu.RUnlock()
	return sortRecords(found)
}
