package daemon

import (
	"context"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
)

// batchBytes bounds what one reading of changes gives, so that it fits a
// message with its envelope.
const batchBytes = api.MaxMessageBytes / 2

// view is the ledger as clients read it.
type view struct{ ledger *ledger.Ledger }

// Snapshot is the server's.
func (v view) Snapshot(_ context.Context, _ server.Viewer, sel api.StateSelect) (server.Snapshot, error) {
	filter, err := v.filter(sel)
	if err != nil {
		return server.Snapshot{}, err
	}
	return server.Snapshot{Docs: records(v.ledger.List(filter))}, nil
}

// Watch is the server's.
func (v view) Watch(_ context.Context, _ server.Viewer, sel api.StateSelect, name string) (server.Snapshot, server.Changes, error) {
	filter, err := v.filter(sel)
	if err != nil {
		return server.Snapshot{}, nil, err
	}
	found, watcher := v.ledger.Watch(ledger.WatchOptions{Name: name, Filter: filter, BatchBytes: batchBytes})
	return server.Snapshot{Docs: records(found)}, changes{watcher}, nil
}

// filter finds the nodes that a person means.
func (v view) filter(sel api.StateSelect) (ledger.Filter, error) {
	filter := ledger.Filter{Kinds: sel.Kinds}
	for _, ref := range sel.Nodes {
		node, err := v.node(ref)
		if err != nil {
			return filter, err
		}
		filter.Nodes = append(filter.Nodes, node)
	}
	return filter, nil
}

// node finds a node by its id, a unique beginning of it, or its short name;
// empty is this one.
func (v view) node(ref api.NodeRef) (api.NodeID, error) {
	if ref == "" {
		return v.ledger.Node(), nil
	}
	wanted := strings.ToLower(strings.ReplaceAll(string(ref), "-", ""))
	var found []api.NodeID
	for _, record := range v.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindIdentity}}) {
		node := record.Key().Node
		var identity api.Identity
		if record.Decode(&identity) == nil && strings.EqualFold(identity.ShortName, string(ref)) {
			return node, nil
		}
		if strings.HasPrefix(string(node), wanted) {
			found = append(found, node)
		}
	}
	slices.Sort(found)
	switch found = slices.Compact(found); len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", api.Errorf(api.ReasonNoSuchNode, string(ref), "there is no node %q; fulmen nodes lists them", string(ref))
	}
	return "", api.Errorf(api.ReasonAmbiguousName, string(ref), "%q is the beginning of %d node ids; type more of it", string(ref), len(found))
}

// changes is a watcher in the form of the server.
type changes struct{ watcher *ledger.Watcher }

// Next is the server's.
func (c changes) Next(ctx context.Context) (server.Change, error) {
	change, err := c.watcher.Next(ctx)
	return server.Change{Put: records(change.Put), Del: change.Del}, err
}

// Close is the server's.
func (c changes) Close() { c.watcher.Close() }

func records(list []*ledger.Record) []server.Record {
	all := make([]server.Record, len(list))
	for i, record := range list {
		all[i] = record
	}
	return all
}
