package gossip

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/daemon/internal/gate"
	"fulmen/native"
	"fulmen/native/waker"
)

// Options is what gossip is made with.
type Options struct {
	Self      api.NodeID
	Transport Transport
	// Gate lets others in.
	Gate *gate.Gate
	// Members are the current members, this node among them or not; asked again
	// whenever it matters, and answered from memory.
	Members func() []api.NodeID
	Clock   native.Clock
	Log     *slog.Logger
	// ProbeEvery is the pace of probes and of gossip; 0 = 2 s.
	ProbeEvery time.Duration
}

const (
	// probeEvery is a compromise of a trial: half the wake-ups of one second, and
	// a node that died is still found within some ten seconds.
	probeEvery = 2 * time.Second
	// probeWithin is how long a probe waits before others are asked.
	probeWithin = 500 * time.Millisecond
	// syncEvery is memberlist's own anti-entropy with one other node.
	syncEvery = time.Minute
	// packetBytes keeps packets within one frame of Ethernet, with TLS's and
	// IPv6's headers.
	packetBytes = 1180
	// rejoinEvery is how often members with a path whom memberlist does not count
	// are joined again. Nothing announces that both sides have given each other
	// up while the path stayed up.
	rejoinEvery = time.Minute
)

// Gossip is the node's view of who is alive.
type Gossip struct {
	options Options
	carrier *carrier
	list    *memberlist.Memberlist
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
	wake    waker.Waker

	mu          sync.Mutex
	known       map[api.NodeID]*known
	joins       map[api.NodeID]bool // to be joined now
	isJoining   bool
	reporting   sync.Mutex // one telling at a time, in order
	subscribers waker.Listeners[func(api.NodeID, State)]
}

// New makes the view; it hears nothing before Start. The transport must not be
// started before New returns.
func New(o Options) *Gossip {
	if o.ProbeEvery == 0 {
		o.ProbeEvery = probeEvery
	}
	g := &Gossip{
		options: o, wake: waker.New(),
		known: map[api.NodeID]*known{}, joins: map[api.NodeID]bool{},
	}
	g.carrier = newCarrier(o.Self, o.Transport, o.Gate, g.hasLeft)
	g.ctx, g.stop = context.WithCancel(context.Background())
	return g
}

// Start begins.
func (g *Gossip) Start() error {
	config := memberlist.DefaultLANConfig()
	config.Name = string(g.options.Self)
	config.Transport = g.carrier
	config.ProbeInterval, config.GossipInterval = g.options.ProbeEvery, g.options.ProbeEvery
	config.ProbeTimeout = probeWithin
	config.PushPullInterval = syncEvery
	config.UDPBufferSize = packetBytes
	config.EnableCompression = false
	config.RequireNodeNames = true
	config.QueueCheckInterval = 24 * time.Hour // a warning in a log; 0 would be a loop without a pause
	config.LogOutput, config.Logger = nil, log.New(writer{g.options.Log}, "", 0)
	config.Events, config.Alive = eventDelegate{g}, eventDelegate{g}
	list, err := memberlist.Create(config)
	if err != nil {
		return fmt.Errorf("gossip: %w", err)
	}
	g.list = list
	stopWatching := g.options.Transport.Watch(g.pathEvent)
	g.running.Go(func() {
		defer stopWatching()
		g.run()
	})
	return nil
}

// Close ends it, and says farewell, so that the others need not find out. The
// transport is closed after it.
func (g *Gossip) Close() error {
	if g.ctx.Err() != nil {
		return nil
	}
	g.stop()
	g.carrier.stop() // nobody who does not answer is waited for
	g.running.Wait()
	for _, node := range g.options.Members() {
		if node != g.options.Self {
			_ = g.options.Transport.Send(node, leavePacket) // who cannot be told finds out
		}
	}
	if g.list == nil {
		return nil
	}
	return g.list.Shutdown()
}

// ofLocked is what is known of a node.
func (g *Gossip) ofLocked(node api.NodeID) *known {
	k := g.known[node]
	if k == nil {
		k = &known{}
		g.known[node] = k
	}
	return k
}

// hasLeft notes a farewell.
func (g *Gossip) hasLeft(node api.NodeID) {
	g.mu.Lock()
	g.ofLocked(node).hasLeft = true
	g.mu.Unlock()
	g.wake.Wake()
}

// State is how a member is.
func (g *Gossip) State(node api.NodeID) State {
	g.mu.Lock()
	defer g.mu.Unlock()
	if k := g.known[node]; k != nil && k.isJudged {
		return k.state
	}
	return State{Liveness: api.LivenessUnreachable, Reason: api.ReasonNeverHeardOf}
}

// Watch tells every change, in order, on goroutines of this package. The
// callback returns soon and does not call back.
func (g *Gossip) Watch(f func(api.NodeID, State)) (stop func()) { return g.subscribers.Add(f) }

// Changed has the members looked at again: the roster has changed.
func (g *Gossip) Changed() { g.wake.Wake() }

// pathEvent joins whoever can be reached and is not listed.
func (g *Gossip) pathEvent(e transport.PathEvent) {
	g.carrier.knows(e.Node)
	g.mu.Lock()
	if e.Path.State != api.PathFailed {
		k := g.ofLocked(e.Node)
		k.hasLeft, k.hadPath = false, true
		if !k.isListed {
			g.joins[e.Node] = true
		}
	}
	g.mu.Unlock()
	g.wake.Wake()
}

// run judges the members after every change, and looks slowly after those who
// should be there. Joining has a goroutine of its own: one that does not answer
// takes memberlist ten seconds.
func (g *Gossip) run() {
	for {
		again := make(chan struct{})
		timer := g.options.Clock.AfterFunc(rejoinEvery, func() { close(again) })
		select {
		case <-g.ctx.Done():
		case <-g.wake:
		case <-again:
			g.joinAll()
		}
		timer.Stop()
		if g.ctx.Err() != nil {
			return
		}
		g.judge()
		g.mu.Lock()
		begins := len(g.joins) > 0 && !g.isJoining
		g.isJoining = g.isJoining || begins
		g.mu.Unlock()
		if begins {
			g.running.Go(g.join)
		}
	}
}

// joinAll notes every member that has a path and is not listed.
func (g *Gossip) joinAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, node := range g.options.Members() {
		if node != g.options.Self && !g.ofLocked(node).isListed && g.options.Transport.Reachable(node) {
			g.joins[node] = true
		}
	}
}

// join exchanges memberlist's state with those who are noted, until nobody is.
// One that comes to nothing is tried with the next path, or the next round.
func (g *Gossip) join() {
	for {
		g.mu.Lock()
		nodes := slices.Sorted(maps.Keys(g.joins))
		clear(g.joins)
		g.isJoining = len(nodes) > 0 && g.ctx.Err() == nil
		isOver := !g.isJoining
		g.mu.Unlock()
		if isOver {
			return
		}
		for _, node := range nodes {
			g.joinOne(node)
		}
	}
}

func (g *Gossip) joinOne(node api.NodeID) {
	g.mu.Lock()
	isListed := g.ofLocked(node).isListed
	g.mu.Unlock()
	if isListed || g.ctx.Err() != nil || !slices.Contains(g.options.Members(), node) {
		return
	}
	if _, err := g.list.Join([]string{string(node) + "/" + address(node).String()}); err != nil {
		g.options.Log.Debug("a member could not be joined", "node", node, "error", err)
	}
}

// judge compares every member's state with what is known now, and tells what
// has changed.
func (g *Gossip) judge() {
	g.reporting.Lock()
	defer g.reporting.Unlock()
	members := g.options.Members()
	now := g.options.Clock.Now()
	changes := map[api.NodeID]State{}
	g.mu.Lock()
	for _, node := range members {
		if node == g.options.Self {
			continue
		}
		k := g.ofLocked(node)
		k.hasPath = g.options.Transport.Reachable(node)
		liveness, reason := k.liveness()
		if k.isJudged && k.state.Liveness == liveness && k.state.Reason == reason {
			continue
		}
		state := State{Liveness: liveness, Since: now, Reason: reason}
		if reason == api.ReasonNeverHeardOf {
			state.Since = time.Time{}
		}
		wasJudged := k.isJudged
		k.state, k.isJudged = state, true
		if !wasJudged && reason == api.ReasonNeverHeardOf {
			continue // that is what everybody is before
		}
		changes[node] = state
	}
	maps.DeleteFunc(g.known, func(node api.NodeID, _ *known) bool { return !slices.Contains(members, node) })
	g.mu.Unlock()
	for _, node := range slices.Sorted(maps.Keys(changes)) {
		for _, f := range g.subscribers.All() {
			f(node, changes[node])
		}
	}
}

// eventDelegate is what memberlist tells. It calls under its lock: notes are taken, and
// nothing else.
type eventDelegate struct{ g *Gossip }

// NotifyJoin is memberlist's.
func (h eventDelegate) NotifyJoin(n *memberlist.Node) { h.note(n, true) }

// NotifyLeave is memberlist's: given up.
func (h eventDelegate) NotifyLeave(n *memberlist.Node) { h.note(n, false) }

// NotifyUpdate is memberlist's.
func (h eventDelegate) NotifyUpdate(*memberlist.Node) {}

// NotifyAlive is memberlist's: who is no member is not listed, whoever says so.
func (h eventDelegate) NotifyAlive(n *memberlist.Node) error {
	node := api.NodeID(n.Name)
	if node == h.g.options.Self || slices.Contains(h.g.options.Members(), node) && n.Addr.Equal(address(node).Addr().AsSlice()) {
		return nil
	}
	return fmt.Errorf("%q is not a member", n.Name)
}

func (h eventDelegate) note(n *memberlist.Node, isListed bool) {
	node := api.NodeID(n.Name)
	if node == h.g.options.Self {
		return
	}
	h.g.mu.Lock()
	k := h.g.ofLocked(node)
	k.isListed, k.wasListed = isListed, k.wasListed || isListed
	h.g.mu.Unlock()
	h.g.wake.Wake()
}

// writer gives memberlist's lines to the log, all as details: what they warn of
// is reported by the states.
type writer struct{ log *slog.Logger }

var _ io.Writer = writer{}

func (w writer) Write(line []byte) (int, error) {
	w.log.Debug("memberlist", "line", strings.TrimSpace(string(line)))
	return len(line), nil
}
