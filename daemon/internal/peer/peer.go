package peer

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"
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
	// HandleStream sets who serves the connections of a door.
	HandleStream(h gate.StreamHandler)
}

// Peers are all nodes of the cluster. Handlers are set before anything is called.
type Peers struct {
	self   api.NodeID
	others Others
	gate   *gate.Gate

	mu      sync.Mutex
	calls   map[string]gate.Call
	streams map[api.PeerConnKind]gate.Conn
}

// New makes the nodes out of this one and the others, all of which pass the gate.
func New(self api.NodeID, others Others, g *gate.Gate) *Peers {
	return &Peers{self: self, others: others, gate: g, calls: map[string]gate.Call{}, streams: map[api.PeerConnKind]gate.Conn{}}
}

// Self is this node.
func (p *Peers) Self() api.NodeID { return p.self }

// HandleCall sets who answers the calls of a door here, whoever calls.
func (p *Peers) HandleCall(h gate.Handler) {
	c := p.gate.Bind(h)
	p.mu.Lock()
	p.calls[c.Name()] = c
	p.mu.Unlock()
	p.others.HandleCall(c)
}

// HandleStream sets who serves the connections of a door here, whoever opens them.
func (p *Peers) HandleStream(h gate.StreamHandler) {
	c := p.gate.BindStream(h)
	p.mu.Lock()
	p.streams[c.Kind()] = c
	p.mu.Unlock()
	p.others.HandleStream(c)
}

// Call calls a method of a node. Errors are *api.Error.
func (p *Peers) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	if node != p.self {
		return p.others.Call(ctx, node, method, params, result)
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return api.AsError(err)
	}
	p.mu.Lock()
	c, isHandled := p.calls[gate.NameOf(method, raw)]
	p.mu.Unlock()
	if !isHandled {
		return api.NewError(api.ReasonUnknownMethod, method)
	}
	answer, err := c.Answer(ctx, p.self, raw)
	if err != nil {
		return api.AsError(err)
	}
	if result == nil || answer == nil {
		return nil
	}
	if raw, err = json.Marshal(answer); err != nil {
		return api.AsError(err)
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return api.AsError(err)
	}
	return nil
}

// Stream opens a connection to a node. The caller closes it.
func (p *Peers) Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error) {
	if node != p.self {
		return p.others.Stream(ctx, node, first)
	}
	p.mu.Lock()
	c, isHandled := p.streams[first.Carries]
	p.mu.Unlock()
	if !isHandled {
		return nil, api.NewError(api.ReasonUnknownMethod, string(first.Carries))
	}
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		defer far.Close()
		c.Serve(ctx, p.self, first, far)
	}()
	return near, nil
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

// Params reads the parameters of a node's call. The error is an *api.Error: that of
// an id which cannot be, or malformed_message.
func Params(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		if e := api.AsError(err); e.Code != api.CodeInternal {
			return e
		}
		return api.Errorf(api.ReasonMalformedMessage, "params", "The parameters are not those of the method.")
	}
	return nil
}
