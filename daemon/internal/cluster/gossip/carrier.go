package gossip

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/daemon/internal/gate"
)

// Transport is what gossip needs of the node's connections.
type Transport interface {
	// Send sends a packet on all paths to a node.
	Send(node api.NodeID, packet []byte) error
	// Packets sets who gets the packets of others.
	Packets(f func(from api.NodeID, packet []byte))
	// Stream opens a connection to a node.
	Stream(ctx context.Context, node api.NodeID, first api.PeerConn) (net.Conn, error)
	// HandleStream sets who serves the connections of a door.
	HandleStream(c gate.Conn)
	// Watch tells of paths that come and go.
	Watch(f func(transport.PathEvent)) (stop func())
	// Reachable reports whether a path to a node is active.
	Reachable(node api.NodeID) bool
}

// port is what memberlist wants an address to have; nothing listens there.
const port = 1

// address is a node's for memberlist: a unique local one made of its id, as
// memberlist refuses a node that comes with another address than before.
func address(node api.NodeID) netip.AddrPort {
	sum := sha256.Sum256([]byte("fulmen-gossip-1" + string(node)))
	var ip [16]byte
	copy(ip[:], sum[:16])
	ip[0] = 0xfd
	return netip.AddrPortFrom(netip.AddrFrom16(ip), port)
}

// carrier is memberlist's transport over the node's own.
type carrier struct {
	self      api.NodeID
	transport Transport
	packets   chan *memberlist.Packet
	streams   chan net.Conn
	ctx       context.Context
	stop      context.CancelFunc

	leavePacket func(from api.NodeID)

	mu    sync.Mutex
	nodes map[string]api.NodeID // by address
}

// leavePacket is the packet of a node that stops. memberlist has a message for
// that, which waits for the next round of gossip; no packet of its own begins so.
var leavePacket = []byte{0xf0}

var _ memberlist.NodeAwareTransport = (*carrier)(nil)

func newCarrier(self api.NodeID, t Transport, g *gate.Gate, left func(from api.NodeID)) *carrier {
	ctx, stop := context.WithCancel(context.Background())
	c := &carrier{
		self: self, transport: t, leavePacket: left, ctx: ctx, stop: stop, nodes: map[string]api.NodeID{},
		packets: make(chan *memberlist.Packet, 512), streams: make(chan net.Conn),
	}
	t.Packets(c.received)
	t.HandleStream(g.BindStream(gate.ServeMember(gate.Stream, c.accepted)))
	return c
}

// knows notes a member, to be found by its address.
func (c *carrier) knows(node api.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[address(node).String()] = node
}

// node finds a member by memberlist's name for it, or by its address.
func (c *carrier) node(a memberlist.Address) (api.NodeID, bool) {
	if node := api.NodeID(a.Name); node.Valid() {
		return node, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	node, ok := c.nodes[a.Addr]
	return node, ok
}

// received queues a packet. A reader that is too slow loses it, as with UDP.
func (c *carrier) received(from api.NodeID, packet []byte) {
	if bytes.Equal(packet, leavePacket) {
		c.leavePacket(from)
		return
	}
	at := address(from)
	select {
	case c.packets <- &memberlist.Packet{Buf: packet, From: net.UDPAddrFromAddrPort(at), Timestamp: time.Now()}:
	default:
	}
}

// accepted gives a stream to memberlist and waits until it is done with it.
func (c *carrier) accepted(ctx context.Context, m gate.Member, _ api.PeerConn, conn net.Conn) {
	s := &stream{Conn: conn, remote: net.TCPAddrFromAddrPort(address(m.Node())), closed: make(chan struct{})}
	select {
	case c.streams <- s:
	case <-ctx.Done():
		return
	case <-c.ctx.Done():
		return
	}
	select {
	case <-s.closed:
	case <-ctx.Done():
	case <-c.ctx.Done():
	}
}

// stream is a connection with the address that memberlist knows the node by.
type stream struct {
	net.Conn
	remote net.Addr
	closed chan struct{}
	once   sync.Once
}

func (s *stream) RemoteAddr() net.Addr { return s.remote }

func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.Conn.Close()
}

// FinalAdvertiseAddr is memberlist's.
func (c *carrier) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return address(c.self).Addr().AsSlice(), port, nil
}

// WriteTo is memberlist's, where it has no name at hand.
func (c *carrier) WriteTo(b []byte, addr string) (time.Time, error) {
	return c.WriteToAddress(b, memberlist.Address{Addr: addr})
}

// errUnknown is an error of the network for memberlist, which gives a node up
// only for those.
var errUnknown = errors.New("no member has this address")

// WriteToAddress is memberlist's.
func (c *carrier) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	now := time.Now()
	node, ok := c.node(a)
	if !ok {
		return now, &net.OpError{Op: "write", Net: "udp", Err: errUnknown}
	}
	return now, c.transport.Send(node, b)
}

// PacketCh is memberlist's.
func (c *carrier) PacketCh() <-chan *memberlist.Packet { return c.packets }

// DialTimeout is memberlist's, where it has no name at hand.
func (c *carrier) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return c.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout is memberlist's.
func (c *carrier) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	node, ok := c.node(a)
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errUnknown}
	}
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	conn, err := c.transport.Stream(ctx, node, api.PeerConn{Carries: api.ConnStream})
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	return &transport.Kept{Conn: conn, Stop: context.AfterFunc(c.ctx, func() { conn.Close() })}, nil
}

// StreamCh is memberlist's.
func (c *carrier) StreamCh() <-chan net.Conn { return c.streams }

// Shutdown is memberlist's.
func (c *carrier) Shutdown() error {
	c.stop()
	return nil
}
