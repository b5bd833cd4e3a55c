package daemon

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/store"
)

// nodes follows what is derived about the members: whether they are reached, by
// which paths, their names and the totals.
type nodes struct {
	daemon   *daemon
	ledger   *ledger.Ledger
	node     *node.Node
	watchers watchers
	// isolated are the interfaces for which a condition is raised.
	isolated map[string]bool

	mu      sync.Mutex
	view    liveness.View
	stale   []api.NodeID
	onOther map[int]func() // called when other nodes are stale than before
	next    int
}

// openNodes makes what follows the members.
func (d *daemon) openNodes() {
	d.nodes = &nodes{daemon: d, ledger: d.ledger, node: d.node, onOther: map[int]func(){}}
	d.nodes.derive()
}

// run derives the view anew after every change, until ctx ends.
func (n *nodes) run(ctx context.Context) error {
	wake := make(chan struct{}, 1)
	nudge := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	stop := n.node.Watch(nudge)
	defer stop()
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() {
		n.ledger.FollowEach(ctx, ledger.WatchOptions{Name: "nodes", Filter: ledger.Filter{Kinds: liveness.Kinds()}, Passive: true},
			func(ledger.Change) { nudge() })
	})
	for {
		n.derive()
		n.tellIsolations()
		rested := make(chan struct{})
		timer := n.daemon.platform.Clock.AfterFunc(nodesRest, func() { close(rested) })
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

// nodesRest is the least time between two derivations: documents that are
// watched move several times a second on every node.
const nodesRest = 50 * time.Millisecond

// tellIsolations raises a condition for each network that keeps Macs from seeing
// each other, and clears those that are over.
func (n *nodes) tellIsolations() {
	now := map[string]bool{}
	for _, i := range n.node.Isolations() {
		now[i.Interface] = true
	}
	for iface := range n.isolated {
		if !now[iface] {
			if err := n.daemon.health.Clear(api.ReasonNetworkIsolatesClients, iface); err != nil {
				n.daemon.logs.part("health").Error("a condition could not be cleared", "error", err)
			}
		}
	}
	for iface := range now {
		if n.isolated[iface] {
			continue
		}
		if err := n.daemon.health.Raise(api.ReasonNetworkIsolatesClients, iface, "on "+iface); err != nil {
			n.daemon.logs.part("health").Error("a condition could not be raised", "error", err)
		}
	}
	n.isolated = now
}

// derive makes the view of what is known now, and wakes who watches it.
func (n *nodes) derive() {
	d := n.daemon
	in := liveness.Input{
		Self: d.identity.Node, Started: api.TimeOf(d.started), At: api.TimeOf(d.platform.Clock.Now()),
		Members: d.roster.Current().Members(), Seen: map[api.NodeID]liveness.Seen{}, Paths: map[api.NodeID][]api.PathView{},
	}
	for _, record := range n.ledger.List(ledger.Filter{Kinds: liveness.Kinds()}) {
		in.Docs = append(in.Docs, record.Document())
	}
	for _, member := range in.Members {
		if member.Node == d.identity.Node {
			continue
		}
		state := n.node.State(member.Node)
		in.Seen[member.Node] = liveness.Seen{Liveness: state.Liveness, Since: api.TimeOf(state.Since), Reason: state.Reason}
		in.Paths[member.Node] = n.node.Paths(member.Node)
	}
	view := d.called.derive(in)
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
	var calls []func()
	for _, f := range n.onOther {
		calls = append(calls, f)
	}
	n.mu.Unlock()
	n.watchers.wake()
	if !isOther {
		return
	}
	for _, f := range calls {
		f()
	}
	d.graph.draw()
}

// onStale has f called whenever other nodes are stale than before; done ends
// that. It must return at once.
func (n *nodes) onStale(f func()) (done func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.next++
	number := n.next
	n.onOther[number] = f
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.onOther, number)
	}
}

// current is the view as it was derived last.
func (n *nodes) current() liveness.View {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.view
}

// find finds the node that a person means. What has just come may not be in the
// view yet: before a name is refused, the view is derived anew.
func (n *nodes) find(ref api.NodeRef) (api.NodeID, error) {
	if id, err := n.current().Find(ref); err == nil {
		return id, nil
	}
	n.derive()
	return n.current().Find(ref)
}

// staleNow are the nodes that cannot be reached, ordered by id.
func (n *nodes) staleNow() []api.NodeID {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stale
}

// isStale reports whether a node's documents may be old.
func (n *nodes) isStale(id api.NodeID) bool { return slices.Contains(n.staleNow(), id) }

// watch gives the view and a channel that has a token whenever it may have
// become another; done ends that.
func (n *nodes) watch() (view liveness.View, wake <-chan struct{}, done func()) {
	wake, done = n.watchers.add() // before the view is read: a change in between wakes
	return n.current(), wake, done
}

// nodeList is every member with what is derived about it.
func (d *daemon) nodeList(ctx context.Context, _ *server.Caller, _ api.Empty) (api.NodeListResult, error) {
	d.node.FetchLive(ctx, []api.Kind{api.KindMemory, api.KindSystem}) // the totals are of what is known of all
	d.nodes.derive()
	return d.nodes.current().List(), nil
}

// nodeGet is one node with its documents.
func (d *daemon) nodeGet(_ context.Context, _ *server.Caller, p api.NodeSelect) (api.NodeGetResult, error) {
	id, err := d.find(p.Node)
	if err != nil {
		return api.NodeGetResult{}, err
	}
	result := api.NodeGetResult{Docs: []api.Document{}}
	result.Node, _ = d.nodes.current().Node(id)
	for _, record := range d.ledger.List(ledger.Filter{Nodes: []api.NodeID{id}}) {
		result.Docs = append(result.Docs, record.Document())
	}
	return result, nil
}

// nodeWatch is node.list, and every change after.
func (d *daemon) nodeWatch(_ context.Context, c *server.Caller, _ api.Empty) (api.NodeWatchResult, error) {
	sub, view, err := stream(c, d.nodes, liveness.Diff,
		func(sub api.Subscription, n uint64, change liveness.Change) any {
			return api.NodeChanged{Sub: sub, N: n, Put: change.Put, Del: change.Del, Totals: change.Totals}
		},
		func(sub api.Subscription) any { return api.NodeChanged{Sub: sub, Lagged: true} })
	if err != nil {
		return api.NodeWatchResult{}, err
	}
	return api.NodeWatchResult{Sub: sub, NodeListResult: view.List()}, nil
}

// nodeConditions is what is wrong: what the nodes say, and what is derived of them.
func (d *daemon) nodeConditions(_ context.Context, _ *server.Caller, p api.NodeConditionsParams) (api.NodeConditionsResult, error) {
	// A database that nothing is written to may be damaged all the same: whoever looks finds out.
	if err := d.database.View(func(store.Reader) error { return nil }); err != nil {
		return api.NodeConditionsResult{}, err
	}
	var wanted []api.NodeID
	for _, ref := range p.Nodes {
		id, err := d.find(ref)
		if err != nil {
			return api.NodeConditionsResult{Conditions: []api.NodeCondition{}}, err
		}
		wanted = append(wanted, id)
	}
	isWanted := func(id api.NodeID) bool { return len(wanted) == 0 || slices.Contains(wanted, id) }
	return api.NodeConditionsResult{Conditions: d.conditionsOf(isWanted)}, nil
}

// conditionsOf are the conditions of some nodes.
func (d *daemon) conditionsOf(isWanted func(api.NodeID) bool) []api.NodeCondition {
	view := d.nodes.current()
	seen := health.Seen{Nodes: view.Nodes, Cables: d.graph.cablesNow()}
	for _, condition := range d.health.Shown() {
		seen.Said = append(seen.Said, api.NodeCondition{Node: d.identity.Node, Condition: condition})
	}
	for _, record := range d.ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindCondition}}) {
		id := record.Key().Node
		var condition api.Condition
		if id != d.identity.Node && !view.Stale(id) && record.Decode(&condition) == nil {
			seen.Said = append(seen.Said, api.NodeCondition{Node: id, Condition: condition})
		}
	}
	return slices.DeleteFunc(health.Derived(seen), func(c api.NodeCondition) bool { return !isWanted(c.Node) })
}

// maxFriendlyName is the longest friendly name, in characters.
const maxFriendlyName = 63

// nodeRename gives this node another friendly name.
func (d *daemon) nodeRename(_ context.Context, c *server.Caller, p api.NodeRename) (api.Empty, error) {
	isBad := !utf8.ValidString(p.Name) || strings.TrimSpace(p.Name) != p.Name ||
		strings.ContainsFunc(p.Name, func(r rune) bool { return !unicode.IsPrint(r) })
	if isBad || utf8.RuneCountInString(p.Name) > maxFriendlyName {
		return api.Empty{}, invalid("name", "a name has 1 to %d characters that can be printed, and no space at its ends", maxFriendlyName)
	}
	if err := (storage{d.database}).saveName(p.Name); err != nil {
		return api.Empty{}, err
	}
	d.logs.part("daemon").Info("renamed", "uid", c.UID, "name", p.Name)
	d.facts.Rename(p.Name)
	return api.Empty{}, nil
}
