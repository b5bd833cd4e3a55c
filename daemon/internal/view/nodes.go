package view

import (
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/waker"
)

// NodesConfig is what [Nodes] need.
type NodesConfig struct {
	Self    api.NodeID
	Started time.Time
	Clock   native.Clock
	Ledger  *ledger.Ledger
	Cluster *node.Node // what this node sees of the others
	Members func() []api.Member
	// Derive derives a view; liveness.Called does.
	Derive     func(liveness.Input) liveness.View
	Conditions *health.Health // is told what is wrong with this node
}

// Nodes follows what is derived about the members: whether they are reached, by
// which paths, their names and the totals.
type Nodes struct {
	cfg      NodesConfig
	watchers waker.Group // who waits for it to become another

	onStale waker.Listeners[func()] // called when other nodes are stale than before

	mu    sync.Mutex
	view  liveness.View
	stale []api.NodeID
}

// NewNodes makes what follows the members. What is known now is derived.
func NewNodes(c NodesConfig) *Nodes {
	n := &Nodes{cfg: c}
	n.Derive()
	return n
}

// Run derives the view anew after every change, until ctx ends.
func (n *Nodes) Run(ctx context.Context) error {
	wake := waker.New()
	stop := n.cfg.Cluster.Watch(wake.Wake)
	defer stop()
	var following sync.WaitGroup
	defer following.Wait()
	for _, filter := range n.filters() {
		following.Go(func() {
			n.cfg.Ledger.FollowEach(ctx, ledger.WatchOptions{Name: "nodes", Filter: filter, Passive: true}, func(ledger.Change) { wake.Wake() })
		})
	}
	for {
		began := n.cfg.Clock.Boot()
		n.Derive()
		n.notifyIsolations()
		rested := make(chan struct{})
		timer := n.cfg.Clock.AfterFunc(restAfter(n.cfg.Clock.Boot()-began, nodesRest), func() { close(rested) })
		for _, next := range []<-chan struct{}{rested, wake} {
			select {
			case <-ctx.Done():
				timer.Stop()
				return context.Cause(ctx)
			case <-next:
			}
		}
	}
}

// filters are the documents that the view follows from. Those of others' paths are left
// out: there are as many as pairs of nodes.
func (n *Nodes) filters() []ledger.Filter {
	kinds := slices.DeleteFunc(liveness.Kinds(), func(k api.Kind) bool { return k == api.KindReach })
	return []ledger.Filter{{Kinds: kinds}, {Kinds: []api.Kind{api.KindReach}, Nodes: []api.NodeID{n.cfg.Self}}}
}

// nodesRest is the least time between two derivations: documents that are
// watched move several times a second on every node.
const nodesRest = 50 * time.Millisecond

// notifyIsolations raises a condition for each network that keeps Macs from seeing
// each other, and clears those that are over.
func (n *Nodes) notifyIsolations() {
	now := map[string]string{}
	for _, i := range n.cfg.Cluster.Isolations() {
		now[i.Interface] = "on " + i.Interface
	}
	n.cfg.Conditions.Only(api.ReasonNetworkIsolatesClients, now)
}

// Derive makes the view of what is known now, and wakes who watches it.
func (n *Nodes) Derive() {
	in := liveness.Input{
		Self: n.cfg.Self, Started: api.TimeOf(n.cfg.Started), At: api.TimeOf(n.cfg.Clock.Now()),
		Members: n.cfg.Members(), Seen: map[api.NodeID]liveness.Seen{}, Paths: map[api.NodeID][]api.PathView{},
	}
	for _, filter := range n.filters() {
		for _, record := range n.cfg.Ledger.List(filter) {
			in.Docs = append(in.Docs, record.Shared())
		}
	}
	for _, member := range in.Members {
		if member.Node == n.cfg.Self {
			continue
		}
		state := n.cfg.Cluster.State(member.Node)
		in.Seen[member.Node] = liveness.Seen{Liveness: state.Liveness, Since: api.TimeOf(state.Since), Reason: state.Reason}
		in.Paths[member.Node] = n.cfg.Cluster.Paths(member.Node)
	}
	view := n.cfg.Derive(in)
	stale := []api.NodeID{}
	for _, one := range view.Nodes {
		if view.Stale(one.Node) {
			stale = append(stale, one.Node)
		}
	}
	slices.Sort(stale)
	n.mu.Lock()
	isOther := !slices.Equal(stale, n.stale)
	n.view, n.stale = view, stale
	n.mu.Unlock()
	n.watchers.Wake()
	if isOther {
		for _, f := range n.onStale.All() {
			f()
		}
	}
}

// OnStale has f called whenever other nodes are stale than before; done ends that.
func (n *Nodes) OnStale(f func()) (done func()) { return n.onStale.Add(f) }

// Current is the view as it was derived last.
func (n *Nodes) Current() liveness.View {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.view
}

// Find finds the node that a person means. What has just come may not be in the
// view yet: before a name is refused, the view is derived anew.
func (n *Nodes) Find(ref api.NodeRef) (api.NodeID, error) {
	if id, err := n.Current().Find(ref); err == nil {
		return id, nil
	}
	n.Derive()
	return n.Current().Find(ref)
}

// staleNow are the nodes that cannot be reached, ordered by id.
func (n *Nodes) staleNow() []api.NodeID {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stale
}

// IsStale reports whether a node's documents may be old.
func (n *Nodes) IsStale(id api.NodeID) bool { return slices.Contains(n.staleNow(), id) }

// watch gives the view and a channel that has a token whenever it may have
// become another; done ends that.
func (n *Nodes) watch() (view liveness.View, wake <-chan struct{}, done func()) {
	wake, done = n.watchers.Add() // before the view is read: a change in between wakes
	return n.Current(), wake, done
}

// Await waits until a condition holds, or ctx ends, and reports whether it holds. It
// is asked again whenever the view may have become another.
func (n *Nodes) Await(ctx context.Context, holds func() bool) bool {
	_, wake, done := n.watch()
	defer done()
	for !holds() {
		select {
		case <-ctx.Done():
			return false
		case <-wake:
		}
	}
	return true
}

// Name is what people call a node.
func (n *Nodes) Name(id api.NodeID) string { return n.Current().Name(id) }

// Name is what people call a node, by its own document.
func Name(l *ledger.Ledger, node api.NodeID) string {
	if identity, known := identityOf(l, node); known && identity.ShortName != "" {
		return identity.ShortName
	}
	return node.Display()
}

// OwnShortName is what others call this node: the slug of the computer's name, made
// unique among the members in the roster's order.
func OwnShortName(l *ledger.Ledger, members []api.Member, computer string) string {
	names := liveness.Names(members, func(id api.NodeID) (api.Identity, bool) {
		if id == l.Node() {
			return api.Identity{Name: computer, ShortName: cluster.ShortName(computer, id)}, true
		}
		return identityOf(l, id)
	})
	if name := names[l.Node()]; name != "" {
		return name
	}
	return cluster.ShortName(computer, l.Node())
}

// identityOf is what a node says that it is; false where that is not known.
func identityOf(l *ledger.Ledger, node api.NodeID) (identity api.Identity, known bool) {
	return ledger.Read[api.Identity](l, api.Key{Node: node, Kind: api.KindIdentity})
}
