package node

import (
	"context"
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
)

// followLedger follows the documents by which others are found.
func (n *Node) followLedger() ([]*ledger.Record, *ledger.Follower) {
	return n.options.Ledger.Follow(ledger.WatchOptions{
		Name: "cluster", Passive: true, Filter: ledger.Filter{Kinds: []api.Kind{api.KindIdentity, api.KindNetwork, api.KindThunderbolt}},
	})
}

// follow applies changes of documents, after those that were there, until ctx ends.
func (n *Node) follow(ctx context.Context, before []*ledger.Record, documents *ledger.Follower) {
	held := reachable{}
	held.follow(ledger.Change{Put: before}, n.addressesLost)
	for {
		change, err := documents.Next(ctx)
		if err != nil {
			return
		}
		held.follow(change, n.addressesLost) // at once: somebody may be about to call there
		if !n.settle(ctx) {                  // what follows is slow, and somebody waits for the news itself
			return
		}
		n.apply(change.Put)
		n.tellFinder()
		n.wake.Wake()
	}
}

// addressesLost ends the paths over addresses that a node has no more. Two machines
// with one identity each say where they are themselves: that ends nothing.
func (n *Node) addressesLost(node api.NodeID, lost []netip.Addr) {
	if !n.twins.isTwo(node) {
		n.transport.AddressesLost(node, lost)
	}
}

// apply takes over this node's interfaces.
func (n *Node) apply(records []*ledger.Record) {
	for _, r := range records {
		if key := r.Key(); key.Kind == api.KindNetwork && key.Node == n.self {
			if network, err := ledger.Shared[api.Network](r); err == nil {
				n.transport.SetInterfaces(usable(network))
			}
		}
	}
}

// tellFinder gives discovery what documents say now.
func (n *Node) tellFinder() {
	r := n.options.Roster.Current()
	n.finder.Load().SetRoster(r.Cluster(), r.Current())
	for _, node := range r.Current() {
		network, found := n.network(node)
		switch {
		case node != n.self && found:
			n.finder.Load().SetMemberNetwork(node, &network)
		case node != n.self:
			n.finder.Load().SetMemberNetwork(node, nil)
		case found:
			n.finder.Load().SetNetwork(network)
		}
	}
	n.finder.Load().SetCables(n.cables())
}

// network is a node's network document; false where there is none.
func (n *Node) network(node api.NodeID) (network api.Network, found bool) {
	return ledger.Read[api.Network](n.options.Ledger, api.Key{Node: node, Kind: api.KindNetwork})
}

// graph is the topology by the documents that are held, with this node's own
// paths. Those of others are left out: there are as many as pairs of nodes, and
// neither the cables nor what an own path is made of hangs on them.
func (n *Node) graph(own map[string]api.Reach) topology.Graph {
	kinds := []api.Kind{api.KindIdentity, api.KindNetwork, api.KindThunderbolt}
	var docs []api.SharedDocument
	for _, record := range n.options.Ledger.List(ledger.Filter{Kinds: kinds}) {
		docs = append(docs, record.Shared())
	}
	nodes, _ := topology.NodesOfHeld(docs, nil)
	for i := range nodes {
		if nodes[i].ID == n.self {
			for _, reach := range own {
				nodes[i].Reach = append(nodes[i].Reach, reach)
			}
		}
	}
	return topology.Build(topology.Input{Nodes: nodes})
}

// cables are those between this node and members.
func (n *Node) cables() []discover.Cable {
	var all []discover.Cable
	for _, c := range n.graph(nil).List().Cables {
		if len(c.Ends) != 2 {
			continue
		}
		own, other := c.Ends[0], c.Ends[1]
		if other.End.Node == n.self {
			own, other = other, own
		}
		if own.End.Node == n.self && other.End.Node != n.self && own.Interface != "" && other.Interface != "" {
			all = append(all, discover.Cable{Interface: own.Interface, Node: other.End.Node, PeerInterface: other.Interface})
		}
	}
	return all
}
