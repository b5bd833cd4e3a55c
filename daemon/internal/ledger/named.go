package ledger

import "fulmen/daemon/api"

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
