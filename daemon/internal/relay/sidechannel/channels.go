package sidechannel

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
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
	open   map[api.RankRef]channel
	early  []*joiner // streams that came before the rank 0 that they are for
	closed bool

	closing sync.WaitGroup
	waits   context.Context // over when nothing is waited for any more
	shut    context.CancelFunc
}

// channel is that of one rank: the root of a rank 0, the leaf of another one.
type channel interface {
	// coordinator is where the program finds it.
	coordinator() netip.AddrPort
	// isSpawned says that the program runs now.
	isSpawned()
	// settle waits until all is read that the program, which has ended, has said.
	settle(within func(done <-chan struct{}))
	// handshake is how far the rank is.
	handshake() (now api.Handshake, over bool)
	// close ends it, once what the program has said is carried.
	close(within func(done <-chan struct{}))
}

// New makes them and answers the nodes whose ranks look for a rank 0 here.
func New(cfg Config) *Channels {
	c := &Channels{cfg: cfg, open: map[api.RankRef]channel{}}
	c.waits, c.shut = context.WithCancel(context.Background())
	cfg.Peers.HandleStream(gate.ServeMember(gate.SideChannel, c.accept))
	return c
}

// Open gives the address at which the program of a rank finds its side channel,
// and carries it until Close, but nothing once a time has passed. The epoch is that of
// the job's home, and the nodes are those of the attempt's ranks, by rank; two at least.
// Opening one again gives the same.
func (c *Channels) Open(rank api.RankRef, epoch uint64, nodes []api.NodeID, within time.Duration) (coordinator netip.AddrPort, err error) {
	ch := request{rank, epoch, nodes, within}
	if !ch.Rank.Valid() || ch.Rank.Rank >= len(ch.Nodes) || len(ch.Nodes) < 2 {
		return netip.AddrPort{}, api.Errorf(api.ReasonBadValue, ch.Rank.String(), "There is no group of %d ranks with rank %d.", len(ch.Nodes), ch.Rank.Rank)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return netip.AddrPort{}, net.ErrClosed
	}
	if one := c.open[ch.Rank]; one != nil {
		return one.coordinator(), nil
	}
	port, listener, err := c.choosePort()
	if err != nil {
		return netip.AddrPort{}, err
	}
	if ch.Rank.Rank > 0 {
		c.open[ch.Rank] = newLeaf(c, ch, port, listener)
		return coordinatorAt(port), nil
	}
	// Rank 0's program binds it by itself, and shares it with nobody: the port is out
	// of the table, and outside of the range that systems give away by themselves.
	_ = listener.Close()
	r := newRoot(c, ch, port)
	c.open[ch.Rank] = r
	for _, j := range c.takeEarlyLocked(ch.Rank) {
		r.attach(j)
	}
	return coordinatorAt(port), nil
}

// Spawned says that the program of a rank runs now.
func (c *Channels) Spawned(ref api.RankRef) {
	c.mu.Lock()
	one := c.open[ref]
	c.mu.Unlock()
	if one != nil {
		one.isSpawned()
	}
}

// atMost waits for something, and for all that it is given not longer than a time or ctx.
func (c *Channels) atMost(ctx context.Context, d time.Duration) (within func(done <-chan struct{}), stop func()) {
	ctx, stop = native.WithTimeout(ctx, c.cfg.Clock, d, "what a rank has said")
	return func(done <-chan struct{}) {
		select {
		case <-done:
		case <-ctx.Done():
		}
	}, stop
}

// lingerWithin is how long what a rank's program has said may take to get to the
// others after its end.
const lingerWithin = 2 * time.Second

// Close ends a rank's channel, once what the rank's program has said before its end
// is carried; one that is not open stays so. It does not wait for that.
func (c *Channels) Close(ref api.RankRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.open[ref]
	delete(c.open, ref)
	if one == nil {
		return
	}
	within, stop := c.atMost(c.waits, lingerWithin)
	c.closing.Go(func() {
		defer stop()
		one.close(within)
	})
}

const (
	// earlyWithin is how long a stream waits for the rank 0 that it is for. Its node
	// opens another one then.
	earlyWithin = 5 * time.Minute
	// earlyMost is how many streams of one node may wait.
	earlyMost = 64
)

// settleWithin is how long what a program has said before its end may take to be
// read.
const settleWithin = 500 * time.Millisecond

// Settle gives how far a rank has come whose program has ended, which may not have
// been told yet; false where it has no channel. It waits until all is read that
// the program has said.
func (c *Channels) Settle(ref api.RankRef) (api.Handshake, bool) {
	c.mu.Lock()
	one := c.open[ref]
	c.mu.Unlock()
	if one == nil {
		return api.Handshake{}, false
	}
	within, stop := c.atMost(context.Background(), settleWithin)
	defer stop()
	one.settle(within)
	now, _ := one.handshake()
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
	c.shut()
	all := slices.Collect(maps.Keys(c.open))
	waiting := slices.Clone(c.early)
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
	defer onDone(ctx, conn)()
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
	if r, isHere := c.open[rootOf(j.ref)].(*root); isHere {
		return r.attach(j)
	}
	waiting := 0
	for _, o := range c.early {
		if o.from == j.from {
			waiting++
		}
	}
	if waiting >= earlyMost {
		return false
	}
	j.expiry = c.cfg.Clock.AfterFunc(earlyWithin, func() { j.conn.Close() })
	c.early = append(c.early, j)
	return true
}

// takeEarlyLocked gives the streams that waited for a rank 0 which is here now.
func (c *Channels) takeEarlyLocked(root api.RankRef) (its []*joiner) {
	c.early = slices.DeleteFunc(c.early, func(j *joiner) bool {
		if rootOf(j.ref) != root {
			return false
		}
		its = append(its, j)
		return true
	})
	return its
}

func (c *Channels) leave(j *joiner) {
	c.mu.Lock()
	c.early = slices.DeleteFunc(c.early, func(o *joiner) bool { return o == j })
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
	return 0, nil, api.Errorf(api.ReasonPortTaken, "127.0.0.1", "No port from %d to %d is free on the loopback%s.", firstPort, lastPort, native.ErrnoSuffix(err)).From(err)
}
