package node

import (
	"context"
	"encoding/json"
	"net"
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/replica"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
)

// Node is how the daemon's other parts call the members' nodes.
var _ peer.Others = (*Node)(nil)

// Call calls a method of a member. Errors are *api.Error.
func (n *Node) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	return n.transport.Call(ctx, node, method, params, result)
}

// HandleCall sets who answers the calls of a door; before Run.
func (n *Node) HandleCall(c gate.Call) { n.transport.HandleCall(c) }

// replicaRoutes are the doors of replication, by their methods.
var replicaRoutes = map[string]gate.MemberRoute{
	"peer.put": gate.Put, "peer.digest": gate.Digest, "peer.pull": gate.Pull, "peer.roster": gate.Roster,
	"peer.watch": gate.Watch, "peer.unwatch": gate.Unwatch,
}

// handleMember sets who answers the calls of a door of any member.
func (n *Node) handleMember(d gate.MemberRoute, h replica.CallHandler) {
	n.transport.HandleCall(n.options.Gate.Bind(gate.HandleMember(d, func(ctx context.Context, m gate.Member, raw json.RawMessage) (any, error) {
		return h(ctx, m.Node(), raw)
	})))
}

// Stream opens a connection to a member.
func (n *Node) Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error) {
	return n.transport.Stream(ctx, node, first)
}

// StreamOver opens a connection to a member at one of its addresses.
func (n *Node) StreamOver(ctx context.Context, node api.NodeID, at netip.Addr, first api.PeerConn) (net.Conn, error) {
	return n.transport.StreamOver(ctx, node, at, first)
}

// HandleStream sets who serves the connections of a door; before Run.
func (n *Node) HandleStream(c gate.Conn) { n.transport.HandleStream(c) }

// Beat tells a member that this node is there.
func (n *Node) Beat(node api.NodeID) error { return n.transport.Beat(node) }

// HungUp sets who is told of members whose daemons ended without a word; before Run.
func (n *Node) HungUp(f func(node api.NodeID)) { n.transport.HungUp(f) }

// Beats sets who hears the members' beats; before Run.
func (n *Node) Beats(f func(from api.NodeID)) { n.transport.Beats(f) }
