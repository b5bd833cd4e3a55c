package replica

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/waker"
)

// Replica brings this node's documents to the others and theirs here.
type Replica struct {
	options Options
	timing  Timing
	ledger  *ledger.Ledger
	self    api.NodeID
	clock   native.Clock
	log     *slog.Logger
	// ctx ends with the replica.
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	// interest wakes the loop that keeps subscriptions; rosterHints the one that
	// acts on removals; orphanHints the one that ends orphans.
	interest, rosterHints, orphanHints waker.Waker
	away                               away
	// own gives what this node writes from New on: what a comparison came too early for
	// and nobody was told would be missed until the next one.
	own *ledger.Follower

	// stock is what comparisons go by; it is taken without mu.
	stock stock
	// removed are the removed members that were acted on; followRoster has it.
	removed map[api.NodeID]bool

	encoding sync.Mutex
	last     struct { // what was encoded last
		message
		raw json.RawMessage
	}

	mu     sync.Mutex
	closed bool
	rand   *rand.Rand
	// peers are the neighbours: those with a path now.
	peers map[api.NodeID]*peer
	// nextSlot is when the next comparison of a burst may begin.
	nextSlot time.Duration
	pulling  map[api.Key]api.Version
	orphans  map[api.Key]time.Duration // when each is ended
	known    *cluster.Roster           // as it was last acted on
	serving  map[api.NodeID][]*service
	lastSub  uint64
	// taking are the nodes of which a comparison is taking what this node lacks.
	taking   map[api.NodeID]bool
	reported map[api.NodeID]complaint
	// confronted is when somebody was last told of a version that was used twice.
	confronted map[api.Key]time.Duration
}

// New makes a replica. Nothing is sent before Run.
func New(o Options) (*Replica, error) {
	if o.Ledger == nil || o.Writer == nil || o.Roster == nil || o.Calls == nil || o.Clock == nil {
		return nil, errors.New("replica: ledger, writer, roster, calls and clock are required")
	}
	r := &Replica{
		options: o, timing: o.Timing.withDefaults(), ledger: o.Ledger, self: o.Ledger.Node(), clock: o.Clock,
		log: o.Log, rand: o.Rand,
		interest: waker.New(), rosterHints: waker.New(), orphanHints: waker.New(),
		peers: map[api.NodeID]*peer{}, pulling: map[api.Key]api.Version{}, orphans: map[api.Key]time.Duration{}, known: o.Roster.Current(),
		serving: map[api.NodeID][]*service{}, reported: map[api.NodeID]complaint{}, removed: map[api.NodeID]bool{},
		confronted: map[api.Key]time.Duration{}, taking: map[api.NodeID]bool{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.rand == nil {
		r.rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	for _, m := range r.known.Members() {
		if r.known.IsRemoved(m.Node) {
			r.removed[m.Node] = true
		}
	}
	if err := r.away.load(o.LastSeen); err != nil {
		return nil, err
	}
	_, r.own = r.ledger.Follow(ledger.WatchOptions{Name: "replication", Passive: true, Filter: ledger.Filter{Nodes: []api.NodeID{r.self}, Deleted: true}})
	return r, nil
}

// Handlers are the calls that a replica answers, by method. They belong to the
// transport before it starts.
func (r *Replica) Handlers() map[string]CallHandler {
	return map[string]CallHandler{
		methodPut: admitted(r, r.handlePut), methodDigest: admitted(r, r.handleDigest), methodPull: admitted(r, r.handlePull),
		methodRoster: admitted(r, r.handleRoster), methodWatch: admitted(r, r.handleWatch), methodUnwatch: admitted(r, r.handleUnwatch),
	}
}

// Notices are the notifications that a replica takes, by name.
func (r *Replica) Notices() map[string]NoticeHandler {
	return map[string]NoticeHandler{noticeChanged: r.handleChanged}
}

// The wire names; api.PeerMethods describes them.
const (
	methodPut     = "peer.put"
	methodDigest  = "peer.digest"
	methodPull    = "peer.pull"
	methodRoster  = "peer.roster"
	methodWatch   = "peer.watch"
	methodUnwatch = "peer.unwatch"
	noticeChanged = "peer.changed"
)

// Run replicates until the context ends, and returns when everything that it
// began is over. It is called once; its error is nil.
func (r *Replica) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, r.cancel)
	defer stop()
	var loops sync.WaitGroup
	for _, loop := range []func(){r.notifyOwn, r.followInterest, r.followRoster, r.endOrphans, r.compareSlowly} {
		loops.Go(loop)
	}
	loops.Wait()
	r.mu.Lock()
	r.closed = true
	for _, p := range r.peers {
		p.end()
	}
	clear(r.peers)
	r.mu.Unlock()
	r.running.Wait()
	return nil
}

// spawnLocked runs f on a goroutine that Run waits for.
func (r *Replica) spawnLocked(f func()) {
	if !r.closed {
		r.running.Go(f)
	}
}

// PeerUp says that there is a path to a member again, or that it began anew.
// Both sides compare digests; the one with the lower id begins.
func (r *Replica) PeerUp(node api.NodeID) {
	if node == r.self {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if old := r.peers[node]; old != nil {
		old.end()
	}
	p := newPeer(r.ctx, node)
	r.peers[node] = p
	r.compareAtSlotLocked(p, r.self > node)
	r.interest.Wake()
}

// PeerDown says that the last path to a member is gone.
func (r *Replica) PeerDown(node api.NodeID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.peers[node]
	if p == nil {
		return
	}
	isOutstanding := p.isBehind || p.isSending || !p.out.isEmpty()
	p.end()
	delete(r.peers, node)
	r.endServicesLocked(node, nil)
	r.interest.Wake()
	near := r.neighboursLocked(func(*peer) bool { return true })
	if isOutstanding {
		// What it was about to get it can get of others that still reach it.
		for _, q := range near {
			r.queueLocked(q, func(o *outbox) bool { return o.hint(node) })
		}
	}
	// Others may have what the lost one had begun to tell.
	for _, q := range near[:min(2, len(near))] {
		r.compareSoonLocked(q, r.soonLocked(len(near)))
	}
}

// with does something about a peer, under mu, where it is one now.
func (r *Replica) with(node api.NodeID, do func(*peer)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.peers[node]; p != nil {
		do(p)
	}
}

// neighboursLocked are the peers for which is says yes, in random order.
func (r *Replica) neighboursLocked(is func(*peer) bool) []*peer {
	all := make([]*peer, 0, len(r.peers))
	for _, p := range r.peers {
		if is(p) {
			all = append(all, p)
		}
	}
	// From an order that does not depend on the map, so that one seed gives one choice.
	slices.SortFunc(all, func(a, b *peer) int { return api.Key{Node: a.node}.Compare(api.Key{Node: b.node}) })
	r.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// roster is the roster now.
func (r *Replica) roster() *cluster.Roster { return r.options.Roster.Current() }

// call calls a neighbour, for as long as it is one and a call may take.
func (r *Replica) call(p *peer, method string, params, result any) error {
	ctx, cancel := native.WithTimeout(p.ctx, r.clock, r.timing.Call, method+" of "+p.node.Display())
	defer cancel()
	return r.options.Calls.Call(ctx, p.node, method, params, result)
}
