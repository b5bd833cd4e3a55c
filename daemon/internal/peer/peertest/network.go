package peertest

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
)

// Network is nodes that can call each other.
type Network struct {
	mu    sync.Mutex
	nodes map[api.NodeID]*Node
	cut   map[[2]api.NodeID]chan struct{} // closed when the two are joined again
	conns map[[2]api.NodeID][]net.Conn
}

// NewNetwork makes a cluster without nodes.
func NewNetwork() *Network {
	return &Network{nodes: map[api.NodeID]*Node{}, cut: map[[2]api.NodeID]chan struct{}{}, conns: map[[2]api.NodeID][]net.Conn{}}
}

// New makes a node, which is not on the cluster yet: nobody reaches it.
func (d *Network) New(id api.NodeID) *Node {
	return &Node{network: d, id: id, gone: make(chan struct{})}
}

// Put puts a node on the cluster, in place of one of the same id, whose calls go on
// at the old one.
func (d *Network) Put(n *Node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if old := d.nodes[n.id]; old != nil {
		close(old.gone)
	}
	d.nodes[n.id] = n
}

// Add makes a node and puts it on the cluster.
func (d *Network) Add(id api.NodeID) *Node {
	n := d.New(id)
	d.Put(n)
	return n
}

// Remove takes a node from the cluster, as when its daemon was killed.
func (d *Network) Remove(id api.NodeID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.nodes[id]; n != nil {
		close(n.gone)
		delete(d.nodes, id)
	}
}

// Cut parts two nodes: calls and connections between them wait for ever, as over
// a cable that was pulled, until Join.
func (d *Network) Cut(a, b api.NodeID) {
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
func (d *Network) Join(a, b api.NodeID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.cut[pair(a, b)]; c != nil {
		close(c)
		delete(d.cut, pair(a, b))
	}
}

// Joined reports whether two nodes are there and can call each other.
func (d *Network) Joined(a, b api.NodeID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.nodes[a] != nil && d.nodes[b] != nil && d.cut[pair(a, b)] == nil
}

func pair(a, b api.NodeID) [2]api.NodeID { return [2]api.NodeID{min(a, b), max(a, b)} }

// Node is one node; it is the Others of package peer.
type Node struct {
	gate.Routes
	network *Network
	id      api.NodeID
	gone    chan struct{}
}

var _ peer.Others = (*Node)(nil)

// to finds a node; where the two are parted it waits until ctx ends.
func (n *Node) to(ctx context.Context, id api.NodeID) (*Node, error) {
	n.network.mu.Lock()
	other, wait := n.network.nodes[id], n.network.cut[pair(n.id, id)]
	n.network.mu.Unlock()
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
	type reply struct {
		value json.RawMessage
		err   error
	}
	done := make(chan reply, 1)
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		value, err := other.Answer(serving, n.id, method, params)
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
	if !n.network.Joined(n.id, id) { // the answer is lost on its way
		<-ctx.Done()
		return api.NewError(api.ReasonUnreachable, id.Display())
	}
	if answer.err != nil {
		return api.AsError(answer.err)
	}
	if result == nil || answer.value == nil {
		return nil
	}
	return json.Unmarshal(answer.value, result)
}

// Stream opens a connection to another node.
func (n *Node) Stream(ctx context.Context, id api.NodeID, first api.PeerConn) (net.Conn, error) {
	other, err := n.to(ctx, id)
	if err != nil {
		return nil, err
	}
	near, far, err := other.Open(ctx, n.id, first)
	if err != nil {
		return nil, err
	}
	n.network.mu.Lock()
	n.network.conns[pair(n.id, id)] = append(n.network.conns[pair(n.id, id)], near, far)
	n.network.mu.Unlock()
	return near, nil
}

// StreamOver opens a connection to another node; all addresses lead there.
func (n *Node) StreamOver(ctx context.Context, id api.NodeID, _ netip.Addr, first api.PeerConn) (net.Conn, error) {
	return n.Stream(ctx, id, first)
}
