package peer

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// Others are the other members' nodes.
type Others interface {
	// Call calls a method of a member. Errors are *api.Error.
	Call(ctx context.Context, node api.NodeID, method string, params, result any) error
	// HandleCall sets who answers the calls of a door.
	HandleCall(c gate.Call)
	// Stream opens a connection to a member.
	Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error)
	// StreamOver opens one over the path to an address of the member.
	StreamOver(ctx context.Context, node api.NodeID, at netip.Addr, first api.PeerConn) (net.Conn, error)
	// HandleStream sets who serves the connections of a door.
	HandleStream(c gate.Conn)
}

// Caller is what the parts of the daemon call nodes by, this one among them, and
// answer their calls.
type Caller interface {
	// Self is this node.
	Self() api.NodeID
	// Call calls a method of a node. Errors are *api.Error.
	Call(ctx context.Context, node api.NodeID, method string, params, result any) error
	// HandleCall sets who answers the calls of a door.
	HandleCall(h gate.Handler)
	// Stream opens a connection to a node. The caller closes it.
	Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error)
	// StreamOver opens one to another node, over the path to an address of it.
	StreamOver(ctx context.Context, node api.NodeID, at netip.Addr, first api.PeerConn) (net.Conn, error)
	// HandleStream sets who serves the connections of a door.
	HandleStream(h gate.StreamHandler)
}

// Peers are all nodes of the cluster. Handlers are set before anything is called.
type Peers struct {
	self   api.NodeID
	others Others
	gate   *gate.Gate
	own    gate.Routes
}

// New makes the nodes out of this one and the others, all of which pass the gate.
func New(self api.NodeID, others Others, g *gate.Gate) *Peers {
	return &Peers{self: self, others: others, gate: g}
}

// Self is this node.
func (p *Peers) Self() api.NodeID { return p.self }

// HandleCall sets who answers the calls of a door here, whoever calls.
func (p *Peers) HandleCall(h gate.Handler) {
	c := p.gate.Bind(h)
	p.own.HandleCall(c)
	p.others.HandleCall(c)
}

// HandleStream sets who serves the connections of a door here, whoever opens them.
func (p *Peers) HandleStream(h gate.StreamHandler) {
	c := p.gate.BindStream(h)
	p.own.HandleStream(c)
	p.others.HandleStream(c)
}

// Call calls a method of a node. Errors are *api.Error.
func (p *Peers) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	if node != p.self {
		return p.others.Call(ctx, node, method, params, result)
	}
	answer, err := p.own.Answer(ctx, p.self, method, params)
	if err == nil && result != nil && answer != nil {
		err = json.Unmarshal(answer, result)
	}
	if err != nil {
		return api.AsError(err)
	}
	return nil
}

// Stream opens a connection to a node. The caller closes it.
func (p *Peers) Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error) {
	if node != p.self {
		return p.others.Stream(ctx, node, first)
	}
	near, _, err := p.own.Open(ctx, p.self, first)
	return near, err
}

// StreamOver opens a connection to another node, over the path to an address of it.
func (p *Peers) StreamOver(ctx context.Context, node api.NodeID, at netip.Addr, first api.PeerConn) (net.Conn, error) {
	return p.others.StreamOver(ctx, node, at, first)
}

// Again calls a node, and calls it again after a pause for as long as again says so of
// the error and ctx goes on. The error is that of the last call; of one that ctx has cut
// off it is the error of the call before, which says what stands in the way.
func Again(ctx context.Context, clock native.Clock, pause time.Duration, again func(error) bool, call func() error) error {
	var before error
	for {
		err := call()
		if err == nil {
			return nil
		}
		if before != nil && errors.Is(err, context.Cause(ctx)) {
			return before
		}
		if before = err; !again(err) || !native.Pause(ctx, clock, pause) {
			return err
		}
	}
}

// IsUnreached reports whether a node could not be reached: a path may come, or another
// be found in place of one that just went.
func IsUnreached(err error) bool {
	e := api.AsError(err)
	return e != nil && e.Code == api.CodeUnreachable
}
