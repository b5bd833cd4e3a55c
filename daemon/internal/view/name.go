package view

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/ledger"
)

// Name is what people call a node, by its own document.
func Name(l *ledger.Ledger, node api.NodeID) string {
	var identity api.Identity
	record, found := l.Get(api.Key{Node: node, Kind: api.KindIdentity})
	if found && record.Decode(&identity) == nil && identity.ShortName != "" {
		return identity.ShortName
	}
	return node.Display()
}

// OwnShortName is what others call this node: the slug of the computer's name, made
// unique among the members in the roster's order.
func OwnShortName(l *ledger.Ledger, members []api.Member, computer string) string {
	names := liveness.Names(members, func(id api.NodeID) (api.Identity, bool) {
		if id == l.Node() {
			return api.Identity{Name: computer, ShortName: cluster.ShortName(computer, id)}, true
		}
		var identity api.Identity
		record, found := l.Get(api.Key{Node: id, Kind: api.KindIdentity})
		return identity, found && record.Decode(&identity) == nil
	})
	if name := names[l.Node()]; name != "" {
		return name
	}
	return cluster.ShortName(computer, l.Node())
}
