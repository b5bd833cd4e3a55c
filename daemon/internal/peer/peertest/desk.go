package peertest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
)

// Desk is nodes that can call each other.
type Desk struct {
	mu    sync.Mutex
	nodes map[api.NodeID]*Node
	cut   map[[2]api.NodeID]chan struct{} // closed when the two are joined again
	conns map[[2]api.NodeID][]net.Conn
}

// NewDesk makes a desk without nodes.
func NewDesk() *Desk {
	return &Desk{nodes: map[api.NodeID]*Node{}, cut: map[[2]api.NodeID]chan struct{}{}, conns: map[[2]api.NodeID][]net.Conn{}}
}

// New makes a node, which is not on the desk yet: nobody reaches it.
func (d *Desk) New(id api.NodeID) *Node {
	return &Node{
		desk: d, id: id, calls: map[string]gate.Call{}, streams: map[api.PeerConnKind]gate.Conn{}, gone: make(chan struct{}),
	}
}

// Put puts a node on the desk, in place of one of the same id, whose calls go on
// at the old one.
func (d *Desk) Put(n *Node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.nodes[n.id]; old != nil {
		close(old.gone)
	}
	d.nodes[n.id] = n
}

// Add makes a node and puts it on the desk.
func (d *Desk) Add(id api.NodeID) *Node {
	n := d.New(id)
	d.Put(n)
	return n
}

// Remove takes a node from the desk, as when its daemon was killed.
func (d *Desk) Remove(id api.NodeID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.nodes[id]; n != nil {
		close(n.gone)
		delete(d.nodes, id)
	}
}

// Cut parts two nodes: calls and connections between them wait for ever, as over
// a cable that was pulled, until Join.
func (d *Desk) Cut(a, b api.NodeID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut[pair(a, b)] == nil {
		d.cut[pair(a, b)] = make(chan struct{})
	}
	for _, c := range d.conns[pair(a, b)] {
		c.Close()
	}
	delete(d.conns, pair(a, b))
}

// Join joins two nodes again. What waited is lost.
func (d *Desk) Join(a, b api.NodeID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.cut[pair(a, b)]; c != nil {
		close(c)
		delete(d.cut, pair(a, b))
	}
}

// Joined reports whether two nodes are there and can call each other.
func (d *Desk) Joined(a, b api.NodeID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.nodes[a] != nil && d.nodes[b] != nil && d.cut[pair(a, b)] == nil
}

func pair(a, b api.NodeID) [2]api.NodeID { return [2]api.NodeID{min(a, b), max(a, b)} }

// Node is one node; it is the Others of package peer.
type Node struct {
	desk *Desk
	id   api.NodeID
	gone chan struct{}

	mu      sync.Mutex
	calls   map[string]gate.Call
	streams map[api.PeerConnKind]gate.Conn
}

var _ peer.Others = (*Node)(nil)

// HandleCall sets who answers the calls of a door.
func (n *Node) HandleCall(c gate.Call) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls[c.Name()] = c
}

// HandleStream sets who serves the connections of a door.
func (n *Node) HandleStream(c gate.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams[c.Kind()] = c
}

// to finds a node; where the two are parted it waits until ctx ends.
func (n *Node) to(ctx context.Context, id api.NodeID) (*Node, error) {
	n.desk.mu.Lock()
	other, wait := n.desk.nodes[id], n.desk.cut[pair(n.id, id)]
	n.desk.mu.Unlock()
	if wait != nil {
		<-ctx.Done()
		return nil, api.Errorf(api.ReasonUnreachable, id.Display(), "%s did not answer", id.Display())
	}
	if other == nil {
		return nil, api.NewError(api.ReasonUnreachable, id.Display())
	}
	return other, nil
}

// Call calls a method of another node.
func (n *Node) Call(ctx context.Context, id api.NodeID, method string, params, result any) error {
	other, err := n.to(ctx, id)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return api.AsError(err)
	}
	other.mu.Lock()
	c, isHandled := other.calls[gate.NameOf(method, raw)]
	other.mu.Unlock()
	if !isHandled {
		return api.NewError(api.ReasonUnknownMethod, method)
	}
	type reply struct {
		value any
		err   error
	}
	done := make(chan reply, 1)
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		value, err := c.Answer(serving, n.id, raw)
		done <- reply{value, err}
	}()
	var answer reply
	select {
	case answer = <-done:
	case <-ctx.Done():
		cancel()
		return errors.Join(api.AsError(context.Cause(ctx)), context.Cause(ctx)) // as over a network
	case <-other.gone:
		cancel()
		return api.NewError(api.ReasonUnreachable, id.Display())
	}
	if !n.desk.Joined(n.id, id) { // the answer is lost on its way
		<-ctx.Done()
		return api.NewError(api.ReasonUnreachable, id.Display())
	}
	if answer.err != nil {
		return api.AsError(answer.err)
	}
	if result == nil || answer.value == nil {
		return nil
	}
	if raw, err = json.Marshal(answer.value); err != nil {
		return api.AsError(err)
	}
	return json.Unmarshal(raw, result)
}

// Stream opens a connection to another node.
func (n *Node) Stream(ctx context.Context, id api.NodeID, first api.PeerConn) (net.Conn, error) {
	other, err := n.to(ctx, id)
	if err != nil {
		return nil, err
	}
	other.mu.Lock()
	c, isHandled := other.streams[first.Carries]
	other.mu.Unlock()
	if !isHandled {
		return nil, api.NewError(api.ReasonUnknownMethod, string(first.Carries))
	}
	near, far := net.Pipe()
	n.desk.mu.Lock()
	n.desk.conns[pair(n.id, id)] = append(n.desk.conns[pair(n.id, id)], near, far)
	n.desk.mu.Unlock()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		defer far.Close()
		c.Serve(ctx, n.id, first, far)
	}()
	return near, nil
}
