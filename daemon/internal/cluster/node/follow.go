package node

import (
	"context"
	"maps"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
	"fulmen/native"
)

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
		// What follows is slow, and somebody waits for the news itself.
		if !native.Pause(ctx, n.options.Platform.Clock, settleFor) {
			return
		}
		n.apply(change.Put)
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

// finderState is what discovery was told last.
type finderState struct {
	roster   *cluster.Roster
	networks map[api.NodeID]*ledger.Record // a nil one: there is none
	cables   []discover.Cable
}

// notifyFinder gives discovery what documents and the graph say now, of what is not as it
// was.
func (n *Node) notifyFinder(graph topology.Graph) {
	r, finder, last := n.options.Roster.Current(), n.finder.Load(), &n.reported
	if r != last.roster {
		finder.SetRoster(r.Cluster(), r.Current())
		last.roster = r
		maps.DeleteFunc(last.networks, func(node api.NodeID, _ *ledger.Record) bool { return !r.IsMember(node) })
	}
	for _, node := range r.Current() {
		record, _ := n.options.Ledger.Get(api.Key{Node: node, Kind: api.KindNetwork})
		if was, isKnown := last.networks[node]; isKnown && was == record {
			continue
		}
		last.networks[node] = record
		network, found := n.network(node)
		switch {
		case node != n.self && found:
			finder.SetMemberNetwork(node, &network)
		case node != n.self:
			finder.SetMemberNetwork(node, nil)
		case found:
			finder.SetNetwork(network)
		}
	}
	if cables := n.cables(graph); !slices.Equal(cables, last.cables) {
		last.cables = cables
		finder.SetCables(cables)
	}
}

// network is a node's network document; false where there is none.
func (n *Node) network(node api.NodeID) (network api.Network, found bool) {
	return ledger.Read[api.Network](n.options.Ledger, api.Key{Node: node, Kind: api.KindNetwork})
}

// drawing is a graph, and what it was made of.
type drawing struct {
	records []*ledger.Record
	own     map[string]api.Reach
	graph   topology.Graph
}

// graph is the topology by the documents that are held, with this node's own
// paths. Those of others are left out: there are as many as pairs of nodes, and
// neither the cables nor what an own path is made of hangs on them. Only keep
// calls it.
func (n *Node) graph(own map[string]api.Reach) topology.Graph {
	kinds := []api.Kind{api.KindIdentity, api.KindNetwork, api.KindThunderbolt}
	records, last := n.options.Ledger.List(ledger.Filter{Kinds: kinds}), &n.drawn
	if last.own != nil && slices.Equal(records, last.records) && maps.Equal(own, last.own) {
		return last.graph
	}
	var docs []api.SharedDocument
	for _, record := range records {
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
	*last = drawing{records, own, topology.Build(topology.Input{Nodes: nodes})}
	return last.graph
}

// cables are those between this node and members.
func (n *Node) cables(graph topology.Graph) []discover.Cable {
	var all []discover.Cable
	for _, c := range graph.Cables().Cables {
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
