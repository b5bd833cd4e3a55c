package ledger

import (
	"cmp"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// recordsByNode hold the records of every node in the order of their keys, so that nobody
// has to look through all of them, or sort them, to find some. Ledger.mu guards them.
type recordsByNode struct {
	nodes map[api.NodeID]*nodeRecords
	order []api.NodeID // of nodes
	last  uint64       // the last number that a change has got
}

// nodeRecords holds the records of one node.
type nodeRecords struct {
	records []*Record // ordered by kind and name
	changed uint64    // the number of its last change, which no other one has
	kinds   map[api.Kind]*holding
	bytes   int
}

// holding is what is held of one writer and kind, by Kind.QuotaKind.
type holding struct {
	documents, bytes int
	deleted          map[api.Key]api.Version
}

// put puts a record in the place of its key, and gives its records.
func (s *recordsByNode) put(r *Record) *nodeRecords {
	node := r.doc.Node
	of := s.nodes[node]
	if of == nil {
		of = &nodeRecords{kinds: map[api.Kind]*holding{}}
		s.nodes[node] = of
		at, _ := slices.BinarySearch(s.order, node)
		s.order = slices.Insert(s.order, at, node)
	}
	if at, found := of.find(r.Key()); found {
		of.records[at] = r
	} else {
		of.records = slices.Insert(of.records, at, r)
	}
	s.last++
	of.changed = s.last
	return of
}

// take takes a key out that is held.
func (s *recordsByNode) take(k api.Key) {
	of := s.nodes[k.Node]
	at, _ := of.find(k)
	of.records = slices.Delete(of.records, at, at+1)
	s.last++
	of.changed = s.last
	if len(of.records) == 0 {
		delete(s.nodes, k.Node)
		at, _ := slices.BinarySearch(s.order, k.Node)
		s.order = slices.Delete(s.order, at, at+1)
	}
}

// find is where a key of the node is, or belongs.
func (s *nodeRecords) find(k api.Key) (at int, found bool) {
	return slices.BinarySearchFunc(s.records, k, func(r *Record, k api.Key) int { return r.Key().Compare(k) })
}

// of are the records of some kinds, sorted; of none: all.
func (s *nodeRecords) of(kinds []api.Kind, see func([]*Record)) {
	if len(kinds) == 0 {
		see(s.records)
		return
	}
	left := s.records
	for _, kind := range kinds {
		from, _ := slices.BinarySearchFunc(left, kind, func(r *Record, k api.Kind) int { return cmp.Compare(r.doc.Kind, k) })
		left = left[from:]
		n := 0
		for n < len(left) && left[n].doc.Kind == kind {
			n++
		}
		see(left[:n])
		left = left[n:]
	}
}

// NodeRecords is what is held of one node.
type NodeRecords struct {
	Node api.NodeID
	// Records are ordered by kind and name, deletions among them. They must not be changed.
	Records []*Record
	// changed is the last change of it.
	changed uint64
}

// NodeRecords is what is held of each node at one moment, the nodes ordered by id. Known is
// what it gave before, or nil: of a node of which nothing has changed since it is given
// again, with the same slice of records.
func (l *Ledger) NodeRecords(known []NodeRecords) []NodeRecords {
	l.mu.RLock()
	defer l.mu.RUnlock()
	all := make([]NodeRecords, 0, len(l.recordsByNode.order))
	for _, node := range l.recordsByNode.order {
		for len(known) > 0 && known[0].Node < node {
			known = known[1:]
		}
		of := l.recordsByNode.nodes[node]
		if len(known) > 0 && known[0].Node == node && known[0].changed == of.changed {
			all = append(all, known[0])
			continue
		}
		all = append(all, NodeRecords{Node: node, Records: slices.Clone(of.records), changed: of.changed})
	}
	return all
}

// ListPrefix is the documents of a node and a kind whose names begin with a prefix, in
// order. Deletions are left out.
func (l *Ledger) ListPrefix(node api.NodeID, kind api.Kind, prefix string) []*Record {
	l.mu.RLock()
	defer l.mu.RUnlock()
	of := l.recordsByNode.nodes[node]
	if of == nil {
		return nil
	}
	var found []*Record
	at, _ := of.find(api.Key{Node: node, Kind: kind, Name: prefix})
	for _, r := range of.records[at:] {
		if r.doc.Kind != kind || !strings.HasPrefix(r.doc.Name, prefix) {
			break
		}
		if !r.doc.Deleted {
			found = append(found, r)
		}
	}
	return found
}

// IsSame reports whether nothing has changed between two shelves of a node.
func (s NodeRecords) IsSame(o NodeRecords) bool { return s.Node == o.Node && s.changed == o.changed }
