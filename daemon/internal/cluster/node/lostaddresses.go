package node

import (
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// reachable are the addresses at which nodes can be reached, as their network documents
// say.
type reachable map[api.NodeID]map[netip.Addr]bool

// follow takes changed documents, and tells which addresses a node has no more.
func (a reachable) follow(change ledger.Change, tell func(api.NodeID, []netip.Addr)) {
	for _, r := range change.Put {
		var network api.Network
		if key := r.Key(); key.Kind == api.KindNetwork && r.Decode(&network) == nil {
			a.take(key.Node, network, tell)
		}
	}
}

func (a reachable) take(node api.NodeID, network api.Network, tell func(api.NodeID, []netip.Addr)) {
	now := reachedAt(network)
	var lost []netip.Addr
	for address := range a[node] {
		if !now[address] {
			lost = append(lost, address)
		}
	}
	a[node] = now
	if len(lost) > 0 && len(now) > 0 { // one that has none at all could not tell so
		tell(node, lost)
	}
}

// reachedAt are the addresses, without zones, of interfaces that carry something.
func reachedAt(network api.Network) map[netip.Addr]bool {
	all := map[netip.Addr]bool{}
	for _, i := range network.Interfaces {
		if !i.Up || i.Link != nil && !*i.Link {
			continue
		}
		for _, address := range i.Addresses {
			all[address.Address.Addr().Unmap().WithZone("")] = true
		}
	}
	return all
}
