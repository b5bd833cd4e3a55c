package node

import (
	"context"
	"net"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
)

// Node is how the daemon's other parts call the members' nodes.
var _ peer.Others = (*Node)(nil)

// Call calls a method of a member. Errors are *api.Error.
func (n *Node) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	return n.transport.Call(ctx, node, method, params, result)
}

// HandleCall sets who answers a method; before Run.
func (n *Node) HandleCall(method string, h peer.CallHandler) { n.transport.HandleCall(method, h) }

// Stream opens a connection to a member.
func (n *Node) Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error) {
	return n.transport.Stream(ctx, node, first)
}

// HandleStream sets who serves connections of a kind; before Run.
func (n *Node) HandleStream(kind api.PeerConnKind, h peer.StreamHandler) {
	n.transport.HandleStream(kind, h)
}

// Beat tells a member that this node is there.
func (n *Node) Beat(node api.NodeID) error { return n.transport.Beat(node) }

// Beats sets who hears the members' beats; before Run.
func (n *Node) Beats(f func(from api.NodeID)) { n.transport.Beats(f) }
