package view

import (
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
)

// NodeCache keeps what the documents of the cluster say of its nodes, as they were
// read last: to read them all takes most of the time in which a graph is made, and
// jobs that start have it made several times of the same documents.
type NodeCache struct {
	mu      sync.Mutex
	records []*ledger.Record
	stale   []bool
	nodes   []topology.Node
	notes   []api.Cause
}

// Of reads documents, unless they are those that were read last, of nodes that are as
// stale as then; a nil isStale: none is. What it gives is shared and must not be changed.
func (r *NodeCache) Of(records []*ledger.Record, isStale func(api.NodeID) bool) ([]topology.Node, []api.Cause) {
	stale := make([]bool, len(records))
	for i, record := range records {
		if node := record.Key().Node; i > 0 && node == records[i-1].Key().Node {
			stale[i] = stale[i-1]
		} else {
			stale[i] = isStale != nil && isStale(node)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// A record is one version of a document, so that the same ones say the same.
	if len(r.records) > 0 && slices.Equal(r.records, records) && slices.Equal(r.stale, stale) {
		return r.nodes, r.notes
	}
	docs := make([]api.SharedDocument, len(records))
	for i, record := range records {
		docs[i] = record.Shared()
	}
	r.nodes, r.notes = topology.NodesOfHeld(docs, isStale)
	r.records, r.stale = records, stale
	return r.nodes, r.notes
}
