package sidechannel

import (
	"context"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
)

// Channels are the side channels of the ranks on this node.
type Channels struct {
	cfg Config

	mu     sync.Mutex
	roots  map[api.RankRef]*root
	leaves map[api.RankRef]*leaf
	early  early
	closed bool

	closing sync.WaitGroup
	shut    chan struct{} // closed when nothing is waited for any more
}

// New makes them and answers the nodes whose ranks look for a rank 0 here.
func New(cfg Config) *Channels {
	c := &Channels{cfg: cfg, roots: map[api.RankRef]*root{}, leaves: map[api.RankRef]*leaf{}, early: early{}, shut: make(chan struct{})}
	cfg.Peers.HandleStream(gate.ServeMember(gate.SideChannel, c.accept))
	return c
}

// Open gives the address at which the program of a rank finds its side channel,
// and carries it until Close. Opening one again gives the same.
func (c *Channels) Open(ch Channel) (coordinator netip.AddrPort, err error) {
	if !ch.Rank.Valid() || ch.Rank.Rank >= len(ch.Nodes) || len(ch.Nodes) < 2 {
		return netip.AddrPort{}, api.Errorf(api.ReasonBadValue, ch.Rank.String(), "There is no group of %d ranks with rank %d.", len(ch.Nodes), ch.Rank.Rank)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return netip.AddrPort{}, net.ErrClosed
	}
	if r := c.roots[ch.Rank]; r != nil {
		return coordinatorAt(r.port), nil
	}
	if l := c.leaves[ch.Rank]; l != nil {
		return coordinatorAt(l.port), nil
	}
	port, listener, err := c.choosePort()
	if err != nil {
		return netip.AddrPort{}, err
	}
	if ch.Rank.Rank > 0 {
		c.leaves[ch.Rank] = newLeaf(c, ch, port, listener)
		return coordinatorAt(port), nil
	}
	// Rank 0's program binds it by itself, and shares it with nobody: the port is out
	// of the table, and outside of the range that systems give away by themselves.
	_ = listener.Close()
	r := newRoot(c, ch, port)
	c.roots[ch.Rank] = r
	for _, j := range c.early.take(ch.Rank) {
		r.attach(j)
	}
	return coordinatorAt(port), nil
}

// Spawned says that the program of a rank runs now.
func (c *Channels) Spawned(ref api.RankRef) {
	c.mu.Lock()
	r, l := c.roots[ref], c.leaves[ref]
	c.mu.Unlock()
	if r != nil {
		r.woken.Wake()
	}
	if l != nil {
		l.once.Do(func() { close(l.spawned) })
	}
}

// lingerWithin is how long what a rank's program has said may take to get to the
// others after its end.
const lingerWithin = 2 * time.Second

// Close ends a rank's channel, once what the rank's program has said before its end
// is carried; one that is not open stays so. It does not wait for that.
func (c *Channels) Close(ref api.RankRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, l := c.roots[ref], c.leaves[ref]
	delete(c.roots, ref)
	delete(c.leaves, ref)
	if r == nil && l == nil {
		return
	}
	late := make(chan struct{})
	timer := c.cfg.Clock.AfterFunc(lingerWithin, func() { close(late) })
	// within waits for something of the channel, and not for longer than it may take.
	within := func(done <-chan struct{}) {
		select {
		case <-done:
		case <-late:
		case <-c.shut:
		}
	}
	c.closing.Go(func() {
		defer timer.Stop()
		if r != nil {
			r.close(within)
		} else {
			l.close(within)
		}
	})
}

// settleWithin is how long what a program has said before its end may take to be
// read.
const settleWithin = 500 * time.Millisecond

// Settle gives how far a rank has come whose program has ended, which may not have
// been told yet; false where it has no channel. It waits until all is read that
// the program has said.
func (c *Channels) Settle(ref api.RankRef) (api.Handshake, bool) {
	c.mu.Lock()
	r, l := c.roots[ref], c.leaves[ref]
	c.mu.Unlock()
	var now api.Handshake
	switch {
	case r != nil:
		late := make(chan struct{})
		timer := c.cfg.Clock.AfterFunc(settleWithin, func() { close(late) })
		defer timer.Stop()
		r.settle(func(done <-chan struct{}) {
			select {
			case <-done:
			case <-late:
			}
		})
		now, _ = r.handshake()
	case l != nil: // its program has got nothing that was not looked at before
		now, _ = l.handshake()
	default:
		return api.Handshake{}, false
	}
	return now, true
}

// Shut closes all, and opens none any more.
func (c *Channels) Shut() {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	c.closed = true
	close(c.shut)
	var all []api.RankRef
	for ref := range c.roots {
		all = append(all, ref)
	}
	for ref := range c.leaves {
		all = append(all, ref)
	}
	waiting := c.early.all()
	c.mu.Unlock()
	for _, ref := range all {
		c.Close(ref)
	}
	for _, j := range waiting {
		j.conn.Close()
	}
	c.closing.Wait()
}

// accept serves a stream of a node, one of whose ranks looks for rank 0.
func (c *Channels) accept(ctx context.Context, caller gate.Member, first api.PeerConn, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	j := newJoiner(c, caller.Node(), first, conn)
	if !c.admit(j) {
		return
	}
	var writing sync.WaitGroup
	writing.Go(func() { j.out.drain(conn) })
	j.read()
	c.leave(j)
	j.out.close()
	conn.Close()
	writing.Wait()
}

// admit takes a stream to the rank 0 that it is for. One that comes before that
// rank is started here waits for it.
func (c *Channels) admit(j *joiner) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || !j.ref.Valid() || j.ref.Rank == 0 {
		return false
	}
	if r := c.roots[rootOf(j.ref)]; r != nil {
		return r.attach(j)
	}
	j.expiry = c.cfg.Clock.AfterFunc(earlyWithin, func() { j.conn.Close() })
	return c.early.add(j)
}

func (c *Channels) leave(j *joiner) {
	c.mu.Lock()
	c.early.remove(j)
	c.mu.Unlock()
	j.lost()
}

func coordinatorAt(port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port))
}

// stopTimer stops a timer that may not be there.
func stopTimer(t native.Timer) {
	if t != nil {
		t.Stop()
	}
}

// Ports are chosen below those that Linux (from 32768) and macOS (from 49152) give
// to programs that ask for any: between the moment in which a port is found free
// and the one in which rank 0's program binds it, no such program gets it.
const (
	firstPort = 20000
	lastPort  = 32000
	portTries = 256
)

// choosePort finds a port of the loopback that nobody has and listens there, which
// proves it.
func (c *Channels) choosePort() (port int, l net.Listener, err error) {
	for range portTries {
		port = firstPort + rand.IntN(lastPort-firstPort)
		if !c.cfg.Take(port) {
			continue
		}
		if l, err = c.cfg.Machine.Listen(port); err == nil {
			return port, l, nil
		}
		c.cfg.Return(port)
	}
	return 0, nil, api.Errorf(api.ReasonPortTaken, "127.0.0.1", "No port from %d to %d is free on the loopback%s.", firstPort, lastPort, native.Said(err)).From(err)
}
