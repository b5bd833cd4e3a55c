package peer

import (
	"context"
	"encoding/json"
	"net"
	"sync"

	"fulmen/daemon/api"
)

// CallHandler answers a node's call; from may be this node. Its error is told the
// caller as an *api.Error.
type CallHandler = func(ctx context.Context, from api.NodeID, params json.RawMessage) (any, error)

// StreamHandler serves one connection of a node, which is closed when it returns.
type StreamHandler = func(ctx context.Context, from api.NodeID, first api.PeerConn, conn net.Conn)

// Others are the other members' nodes.
type Others interface {
	// Call calls a method of a member. Errors are *api.Error.
	Call(ctx context.Context, node api.NodeID, method string, params, result any) error
	// HandleCall sets who answers a method.
	HandleCall(method string, h CallHandler)
	// Stream opens a connection to a member.
	Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error)
	// HandleStream sets who serves connections of a kind.
	HandleStream(kind api.PeerConnKind, h StreamHandler)
}

// Peers are all nodes of the cluster. Handlers are set before anything is called.
type Peers struct {
	self   api.NodeID
	others Others

	mu      sync.Mutex
	calls   map[string]CallHandler
	streams map[api.PeerConnKind]StreamHandler
}

// New makes the nodes out of this one and the others.
func New(self api.NodeID, others Others) *Peers {
	return &Peers{self: self, others: others, calls: map[string]CallHandler{}, streams: map[api.PeerConnKind]StreamHandler{}}
}

// Self is this node.
func (p *Peers) Self() api.NodeID { return p.self }

// HandleCall sets who answers a method here, whoever calls.
func (p *Peers) HandleCall(method string, h CallHandler) {
	p.mu.Lock()
	p.calls[method] = h
	p.mu.Unlock()
	p.others.HandleCall(method, h)
}

// HandleStream sets who serves connections of a kind here, whoever opens them.
func (p *Peers) HandleStream(kind api.PeerConnKind, h StreamHandler) {
	p.mu.Lock()
	p.streams[kind] = h
	p.mu.Unlock()
	p.others.HandleStream(kind, h)
}

// Call calls a method of a node. Errors are *api.Error.
func (p *Peers) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	if node != p.self {
		return p.others.Call(ctx, node, method, params, result)
	}
	p.mu.Lock()
	h := p.calls[method]
	p.mu.Unlock()
	if h == nil {
		return api.NewError(api.ReasonUnknownMethod, method)
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return api.AsError(err)
	}
	answer, err := h(ctx, p.self, raw)
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
	h := p.streams[first.Carries]
	p.mu.Unlock()
	if h == nil {
		return nil, api.NewError(api.ReasonUnknownMethod, string(first.Carries))
	}
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		defer far.Close()
		h(ctx, p.self, first, far)
	}()
	return near, nil
}
