package transport

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
	"fulmen/native/waker"
)

// Transport is a node's connections to the other members.
type Transport struct {
	options     Options
	certificate tls.Certificate
	session     uint64 // of this process, in the greeting of each path
	ctx         context.Context
	cancel      context.CancelFunc
	running     sync.WaitGroup // what Close waits for
	greeting    halfOpen
	nonMembers  chan struct{} // slots
	handlers    handlers
	dials       atomic.Uint64 // made for paths
	wake        waker.Waker   // the dialler has something to look at
	events      events

	mu        sync.Mutex
	started   bool
	closed    bool
	port      int
	own       []Interface
	listeners map[endpoint]net.Listener
	silent    map[endpoint]bool // where peers cannot be listened for, as was said
	again     native.Timer      // when listening is tried again; nil: never
	peers     map[api.NodeID]*peer
	usages    map[api.NodeID]*usage
}

// peer is what is held of one member.
type peer struct {
	node api.NodeID
	// ctx ends with the membership.
	ctx        context.Context
	cancel     context.CancelFunc
	candidates []Candidate
	attempts   map[way]*attempt
	links      []*link
	known      map[place]Path // every path there was, as it is
	standby    map[way]Path   // further addresses that answered
	sequence   uint64         // of the last packet sent
	session    uint64         // of the peer's process
	earlier    []uint64       // sessions before it
	refused    uint64         // the last of them that came back
	window     window
	calls      callState
	isDoubted  bool // its paths are being looked at
	servers    []*callServer
}

// New makes a transport. Start opens it.
func New(o Options) (*Transport, error) {
	cert, err := certificate(o.Identity)
	if err != nil {
		return nil, err
	}
	var random [8]byte
	rand.Read(random[:]) // never fails
	t := &Transport{
		options: o, certificate: cert, session: binary.BigEndian.Uint64(random[:]),
		nonMembers: make(chan struct{}, api.MaxHalfOpen),
		wake:       make(chan struct{}, 1), listeners: map[endpoint]net.Listener{},
		peers: map[api.NodeID]*peer{}, usages: map[api.NodeID]*usage{},
		handlers: handlers{streams: map[api.PeerConnKind]gate.Conn{}, calls: map[string]gate.Call{}, notices: map[string]NoticeHandler{}},
		events:   events{more: waker.New()},
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t, nil
}

// Start listens on the interfaces that are set, and dials the candidates.
// Handlers are set before.
func (t *Transport) Start() error {
	t.mu.Lock()
	t.started = true
	t.mu.Unlock()
	t.running.Go(t.dialler)
	t.running.Go(t.deliver)
	t.listen()
	t.wake.Wake()
	return nil
}

// closeWithin bounds how long Close waits for packets that are queued.
const closeWithin = 200 * time.Millisecond

// flush waits until every path has sent what was queued on it, for a moment.
func (t *Transport) flush() {
	t.mu.Lock()
	var links []*link
	for _, p := range t.peers {
		links = append(links, p.links...)
	}
	t.mu.Unlock()
	over := make(chan struct{})
	timer := t.options.Clock.AfterFunc(closeWithin, func() { close(over) })
	defer timer.Stop()
	for _, l := range links {
		if !l.send(nil) {
			continue
		}
		select {
		case <-l.flushed:
		case <-l.done:
		case <-over:
			return
		}
	}
}

// Close sends what is queued, ends every connection and waits for what works on
// them.
func (t *Transport) Close() error {
	t.flush()
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	t.cancel()
	for _, l := range t.listeners {
		l.Close()
	}
	if t.again != nil {
		t.again.Stop()
	}
	peers := slices.Collect(maps.Values(t.peers))
	t.mu.Unlock()
	for _, p := range peers {
		t.end(p)
	}
	t.running.Wait()
	return nil
}

// Port is where peers connect; 0 before the first interface is there.
func (t *Transport) Port() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.port
}

// SetInterfaces says by which interfaces peers are dialled and listened for.
// Paths over others end at once.
func (t *Transport) SetInterfaces(own []Interface) {
	t.mu.Lock()
	t.own = slices.Clone(own)
	var gone []*link
	for _, p := range t.peers {
		for _, l := range p.links {
			if t.rankOfLocked(l.place.iface) < 0 {
				gone = append(gone, l)
			}
		}
		for _, a := range p.attempts {
			a.forgive()
		}
		t.dropLocked(p, api.ReasonLinkGone, func(at Path) bool { return t.rankOfLocked(at.Interface) < 0 })
	}
	t.mu.Unlock()
	t.listen() // before the peers see their paths end and dial again
	for _, l := range gone {
		l.close(api.ReasonLinkGone)
	}
	t.wake.Wake()
}

// rankOfLocked is an interface's rank; negative where there is none of the name.
func (t *Transport) rankOfLocked(iface string) int {
	for _, i := range t.own {
		if i.Name == iface {
			return max(i.Rank, 0)
		}
	}
	return -1
}

// SetCandidates says where a member may be reached, instead of what was said
// before. Paths that are up stay up.
func (t *Transport) SetCandidates(node api.NodeID, candidates []Candidate) {
	if node == t.options.Identity.Node {
		return
	}
	t.mu.Lock()
	p := t.peerLocked(node)
	if slices.Equal(p.candidates, candidates) {
		t.mu.Unlock()
		return
	}
	p.candidates = slices.Clone(candidates)
	for _, a := range p.attempts {
		a.forgive()
	}
	for at, path := range p.known {
		if path.State == api.PathFailed && !p.isCandidate(path) {
			delete(p.known, at)
		}
	}
	t.dropLocked(p, api.ReasonAddressLost, func(at Path) bool { return !p.isCandidate(at) })
	t.mu.Unlock()
	t.wake.Wake()
}

// peerLocked is what is held of a node.
func (t *Transport) peerLocked(node api.NodeID) *peer {
	p := t.peers[node]
	if p == nil {
		p = &peer{node: node, attempts: map[way]*attempt{}, known: map[place]Path{}, standby: map[way]Path{}}
		p.ctx, p.cancel = context.WithCancel(t.ctx)
		t.peers[node] = p
	}
	return p
}

// Paths are the ways to a node, the best first: active ones, and behind those of an
// interface what stands by, then those that failed and may come back.
func (t *Transport) Paths(node api.NodeID) []Path {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.peers[node]
	if p == nil {
		return nil
	}
	return slices.SortedFunc(slices.Values(p.allLocked()), better)
}

// Reachable reports whether any path to a node is active.
func (t *Transport) Reachable(node api.NodeID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.peers[node]
	return p != nil && len(p.links) > 0
}

// Watch has every path's coming and going told, in order, on a goroutine of the
// transport. What is there already is told first.
func (t *Transport) Watch(f func(PathEvent)) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stop = t.events.subscribers.Add(f)
	for _, p := range t.peers {
		for _, path := range p.known {
			if path.State != api.PathFailed {
				t.events.add(PathEvent{Node: p.node, Path: path}, f)
			}
		}
	}
	return stop
}

// Drop ends all connections with a node and forgets it: it is no member any
// more.
func (t *Transport) Drop(node api.NodeID) {
	t.mu.Lock()
	p := t.peers[node]
	delete(t.peers, node)
	t.mu.Unlock()
	if p != nil {
		t.end(p)
	}
}

// end closes all that is open to a peer.
func (t *Transport) end(p *peer) {
	t.mu.Lock()
	links := slices.Clone(p.links)
	p.candidates = nil
	p.cancel()
	calls := p.calls.dropLocked()
	p.servers = nil
	t.mu.Unlock()
	for _, l := range links {
		l.close(api.ReasonLeft)
	}
	for _, c := range calls {
		c.close()
	}
}
