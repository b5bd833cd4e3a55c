package node

import (
	"context"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/cluster/gossip"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// State is how a member is, as far as this node can tell.
func (n *Node) State(node api.NodeID) gossip.State { return n.gossip.State(node) }

// Isolations are the networks that keep this node and members from seeing each
// other, as far as there is evidence.
func (n *Node) Isolations() []discover.Isolation {
	if finder := n.finder.Load(); finder != nil {
		return finder.Isolations()
	}
	return nil // discovery does not run yet
}

// Paths are the ways to a member, the best first, with what they are made of.
func (n *Node) Paths(node api.NodeID) []api.PathView {
	var all []api.PathView
	for _, path := range n.transport.Paths(node) {
		view := api.PathView{Address: api.PeerAddress{Peer: node, Address: native.Zoned(path.Address.Addr(), path.Interface)}, Interface: path.Interface, State: path.State}
		if path.RTTUS > 0 {
			view.RTTUS = new(path.RTTUS)
		}
		view.Kind = api.LinkUnknown
		if reach, known := ledger.Read[api.Reach](n.options.Ledger, api.Key{Node: n.self, Kind: api.KindReach, Name: view.Address.String()}); known {
			view.Kind = reach.Kind
		}
		all = append(all, view)
	}
	return all
}

// Flush tells the members that are reached what this node says of itself now, and
// waits until they have heard it, or ctx ends.
func (n *Node) Flush(ctx context.Context) error {
	var reporting sync.WaitGroup
	for _, node := range n.inReach() {
		reporting.Go(func() { _ = n.replica.LastWord(ctx, node) }) // who cannot be told keeps nobody waiting for longer
	}
	publicError := make(chan struct{})
	go func() { reporting.Wait(); close(publicError) }()
	if !native.Wait(ctx, n.options.Platform.Clock, native.Forever, publicError) {
		return context.Cause(ctx)
	}
	return nil
}

// inReach are the other members that a path leads to.
func (n *Node) inReach() []api.NodeID {
	return slices.DeleteFunc(n.Members(), func(node api.NodeID) bool { return node == n.self || !n.transport.Reachable(node) })
}

// Members are all members.
func (n *Node) Members() []api.NodeID { return n.options.Roster.Members() }

// Reached are the members in sight, this node among them.
func (n *Node) Reached() []api.NodeID {
	return slices.DeleteFunc(n.Members(), func(id api.NodeID) bool {
		return id != n.self && n.State(id).Liveness == api.LivenessUnreachable
	})
}
