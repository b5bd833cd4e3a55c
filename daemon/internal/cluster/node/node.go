package node

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/discover"
	"fulmen/daemon/internal/cluster/gossip"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/daemon/internal/cluster/replica"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
	"fulmen/native"
	"fulmen/native/waker"
)

// Node is this node among the members of its cluster.
type Node struct {
	options    Options
	self       api.NodeID
	log        *slog.Logger
	transport  *transport.Transport
	gossip     *gossip.Gossip
	replica    *replica.Replica
	finder     atomic.Pointer[discover.Finder] // nil before Run has come so far
	reported   finderState                     // keep has it
	drawn      drawing                         // keep has it
	book       *pairing.Book
	twins      *twins
	denials    denials
	clocks     *clocks
	wake       waker.Waker // paths, documents or the roster have changed
	sought     waker.Waker // candidates of members have
	nonMembers waker.Waker // Macs that wait have come or gone
	joining    sync.Mutex  // one pairing at a time changes the cluster
	watchers   waker.Listeners[func()]

	booking sync.Mutex // held while others are told of Add a Mac

	mu      sync.Mutex
	inbox   *pairing.Inbox
	pairing bool                                 // Add a Mac is open
	up      map[api.NodeID]bool                  // who was told to be reachable
	met     map[api.NodeID][]transport.Candidate // where a member was met at pairing
	tried   map[api.NodeID]bool                  // whose wrong codes are published
	found   map[api.NodeID]bool                  // of whom discovery has other candidates
	saved   Met
	gone    bool // this node was removed, and that was told

	leaving atomic.Bool // this node removes itself, and tells the others of it
}

// New makes a node that does nothing before Run.
func New(o Options) (*Node, error) {
	n := &Node{
		options: o, self: o.Identity.Node, log: o.Log("cluster"), wake: waker.New(), sought: waker.New(), nonMembers: waker.New(), inbox: pairing.NewInbox(),
		up: map[api.NodeID]bool{}, met: map[api.NodeID][]transport.Candidate{}, found: map[api.NodeID]bool{}, reported: finderState{networks: map[api.NodeID]*ledger.Record{}},
	}
	n.book = pairing.NewBook(o.Platform.Clock, n.bookChanged)
	var err error
	n.twins = &twins{clock: o.Platform.Clock, notify: o.Twin, until: map[api.NodeID]native.Timer{}}
	n.denials.notify = o.Denied
	n.clocks = &clocks{clock: o.Platform.Clock, notify: o.Clocks, again: n.compareClock, ahead: map[api.NodeID]time.Duration{}, timer: map[api.NodeID]native.Timer{}}
	n.transport, err = transport.New(transport.Options{
		Identity: o.Identity, Members: o.Roster, Sockets: o.Platform.Sockets, Clock: o.Platform.Clock, Port: o.Port,
		Hello: n.hello, Pair: n.show, IsPairing: n.book.IsListening, Twice: n.twins.seen, Denied: n.denials.dialled, Log: o.Log("transport"),
	})
	if err != nil {
		return nil, err
	}
	n.gossip = gossip.New(gossip.Options{
		Self: n.self, Transport: n.transport, Gate: o.Gate, Members: o.Roster.Members, Clock: o.Platform.Clock, Log: o.Log("gossip"), ProbeEvery: o.ProbeEvery,
	})
	n.replica, err = replica.New(replica.Options{
		Ledger: o.Ledger, Writer: o.Writer, Roster: o.Roster, Calls: n.transport, Clock: o.Platform.Clock,
		LastSeen: o.LastSeen, OnRemoved: n.removed, Timing: o.Timing, Log: o.Log("replica"),
	})
	if err != nil {
		return nil, err
	}
	for method, h := range n.replica.Handlers() {
		n.handleMember(replicaRoutes[method], h)
	}
	for method, h := range n.replica.Notices() {
		n.transport.HandleNotify(method, h)
	}
	n.handleMember(gate.Hello, n.answerHello)
	o.Roster.OnChange(n.rosterChanged)
	return n, nil
}

// hello is what this node says of itself to members.
func (n *Node) hello() api.PeerHello {
	r := n.options.Roster.Current()
	return api.PeerHello{
		Cluster: r.Cluster(), Protocol: n.options.Protocol, ProtocolMin: n.options.ProtocolMin, Version: n.options.Version,
		RosterSHA256: string(r.Head()), At: api.TimeOf(n.options.Platform.Clock.Now()),
	}
}

// Run joins the networks and works until ctx ends.
func (n *Node) Run(ctx context.Context) error {
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n.loadMet()
	if err := n.transport.Start(); err != nil {
		return err
	}
	defer n.transport.Close()
	defer n.clocks.end()
	// Others are found by these documents.
	records, documents := n.options.Ledger.Follow(ledger.WatchOptions{
		Name: "cluster", Passive: true, Filter: ledger.Filter{Kinds: []api.Kind{api.KindIdentity, api.KindNetwork, api.KindThunderbolt}},
	})
	defer documents.Close()
	n.apply(records)
	// The port is known once an interface is there; where none is yet, that of
	// the configuration will be it.
	port := n.transport.Port()
	if port == 0 {
		port = n.options.Port
	}
	for port == 0 { // any port, and no interface yet that has one
		change, err := documents.Next(ctx)
		if err != nil {
			return nil
		}
		n.apply(change.Put)
		port = n.transport.Port()
	}
	finder, err := discover.New(discover.Options{
		Self: n.self, Port: port, Discovery: n.options.Platform.Discovery, Clock: n.options.Platform.Clock,
		Store: n.options.Discovery, Changed: n.discovered, Denied: n.denials.searched, Log: n.options.Log("discover"),
	})
	if err != nil {
		return err
	}
	defer finder.Close()
	if err := finder.SetPeers(n.options.Peers); err != nil {
		n.log.Warn("peers.addresses", "error", err)
	}
	n.finder.Store(finder)
	n.mu.Lock()
	isOpen := n.pairing
	n.mu.Unlock()
	if isOpen {
		finder.SetPairing(true)
	}
	n.notifyFinder(n.graph(n.reached()))
	finder.Start()
	stopPaths := n.transport.Watch(n.pathChanged)
	defer stopPaths()
	stopStates := n.gossip.Watch(func(api.NodeID, gossip.State) { n.notify() })
	defer stopStates()
	if err := n.gossip.Start(); err != nil {
		return err
	}
	defer n.gossip.Close()
	running.Go(func() { _ = n.replica.Run(ctx) })
	running.Go(func() { n.follow(ctx, records, documents) })
	running.Go(func() { n.keep(ctx) })
	running.Go(func() { n.lookAround(ctx) })
	n.wake.Wake()
	<-ctx.Done()
	cancel()
	running.Wait()
	return nil
}

// Port is where peers connect; 0 before the first interface is there.
func (n *Node) Port() int { return n.transport.Port() }

// Watch calls f whenever the members' states or paths have changed. It must
// return at once.
func (n *Node) Watch(f func()) (stop func()) { return n.watchers.Add(f) }

func (n *Node) notify() {
	for _, f := range n.watchers.All() {
		f()
	}
}

// pathChanged hears of each path that comes or goes.
func (n *Node) pathChanged(e transport.PathEvent) {
	isUp := n.transport.Reachable(e.Node)
	n.finder.Load().SetPaths(e.Node, n.transport.Paths(e.Node))
	n.mu.Lock()
	wasUp := n.up[e.Node]
	n.up[e.Node] = isUp
	n.mu.Unlock()
	n.log.Info("path", "node", e.Node, "interface", e.Path.Interface, "peer_interface", e.Path.PeerInterface, "state", e.Path.State, "reason", e.Path.Reason)
	switch {
	case isUp && (!wasUp || e.Anew):
		n.replica.PeerUp(e.Node)
		go n.compareClock(e.Node)
	case !isUp && wasUp:
		n.replica.PeerDown(e.Node)
		n.clocks.is(e.Node, 0)
	}
	n.gossip.Changed()
	n.wake.Wake()
	n.notify()
}

// discovered hears of candidates and strangers.
func (n *Node) discovered(c discover.Change) {
	n.mu.Lock()
	for _, node := range c.Nodes {
		n.found[node] = true
	}
	n.mu.Unlock()
	n.sought.Wake()
	if c.Peers {
		n.wake.Wake()
	}
	if c.NonMembers {
		n.nonMembers.Wake()
	}
	if c.Isolation || c.NonMembers || c.Peers {
		n.notify()
	}
}

// settleFor is how long what happens at the same time is collected: in a cluster
// of 32 that starts, 62 paths come up together.
const settleFor = 20 * time.Millisecond

// keep brings what documents say to discovery, candidates to the transport and paths to
// the documents, after every change.
func (n *Node) keep(ctx context.Context) {
	for {
		isAll := false
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
			isAll = true
		case <-n.sought:
		}
		if !native.Pause(ctx, n.options.Platform.Clock, settleFor) {
			return
		}
		select {
		case <-n.wake:
			isAll = true
		default:
		}
		n.mu.Lock()
		found := n.found
		n.found = map[api.NodeID]bool{}
		n.mu.Unlock()
		var reached map[string]api.Reach
		var graph topology.Graph
		if isAll {
			reached = n.reached()
			graph = n.graph(reached)
			n.notifyFinder(graph)
		}
		for _, node := range n.options.Roster.Members() {
			if node != n.self && (isAll || found[node]) {
				n.transport.SetCandidates(node, n.candidates(node))
			}
		}
		if isAll {
			n.publishReach(reached, graph)
			n.saveMet()
		}
	}
}

// candidates are where a member may be, from every source.
func (n *Node) candidates(node api.NodeID) []transport.Candidate {
	all := slices.Clone(n.finder.Load().Candidates(node))
	n.mu.Lock()
	for _, c := range n.met[node] {
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	n.mu.Unlock()
	if !n.transport.Reachable(node) {
		for _, c := range n.finder.Load().Unclaimed() {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
		return all
	}
	network, _ := n.network(node)
	paths := n.transport.Paths(node)
	return slices.DeleteFunc(all, func(c transport.Candidate) bool { return isServed(c, paths, network) })
}

// isServed reports whether a path over IPv4 joins the interfaces that an address of IPv6
// would, as the member's network document says which one has it.
func isServed(c transport.Candidate, paths []transport.Path, network api.Network) bool {
	if c.Address.Addr().Is4() {
		return false
	}
	for _, path := range paths {
		if path.State != api.PathActive || path.Interface != c.Interface || !path.Address.Addr().Is4() {
			continue
		}
		if i := slices.IndexFunc(network.Interfaces, func(i api.Interface) bool { return i.Name == path.PeerInterface }); i >= 0 &&
			slices.ContainsFunc(network.Interfaces[i].Addresses, func(a api.InterfaceAddress) bool { return a.Address.Addr() == c.Address.Addr().WithZone("") }) {
			return true
		}
	}
	return false
}

// rosterChanged follows a change of who belongs.
func (n *Node) rosterChanged(before, after *cluster.Roster) {
	for _, node := range before.Current() {
		if !after.IsMember(node) && node != n.self {
			n.transport.Drop(node)
			n.mu.Lock()
			delete(n.met, node)
			delete(n.up, node)
			n.mu.Unlock()
		}
	}
	if finder := n.finder.Load(); finder != nil {
		finder.SetRoster(after.Cluster(), after.Current())
		for _, node := range after.Current() {
			if node != n.self && !before.IsMember(node) {
				finder.SetPaths(node, n.transport.Paths(node))
			}
		}
	}
	n.gossip.Changed()
	n.wake.Wake()
	n.nonMembers.Wake()
	n.notify()
}

// removed hears of every member that was removed, this node too.
func (n *Node) removed(node api.NodeID) {
	if node != n.self {
		n.transport.Drop(node)
		if err := n.options.Sharing.Prune(); err != nil {
			n.log.Error("what is lent to whom could not be brought up to date", "error", err)
		}
		return
	}
	if n.leaving.Load() {
		return // it says so itself, when it has told the others
	}
	n.mu.Lock()
	isFirst := !n.gone
	n.gone = true
	n.mu.Unlock()
	if isFirst {
		n.options.Removed()
	}
}
