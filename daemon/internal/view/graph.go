package view

import (
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
)

const (
	// graphSettle is how long the graph waits after a change for those that belong
	// to it: a plugged cable changes three documents at each end.
	graphSettle = 20 * time.Millisecond
	// mostRest bounds how long something that is derived rests.
	mostRest = time.Second
)

// restAfter is how long something that took so long to derive rests until it is derived
// again, where documents go on to change, as while Macs join: it takes up to a twentieth
// of the time. Least is where it takes none.
func restAfter(took, least time.Duration) time.Duration { return min(max(19*took, least), mostRest) }

// GraphKinds are the kinds of documents that the graph is made of.
func GraphKinds() []api.Kind {
	return []api.Kind{
		api.KindIdentity, api.KindNetwork, api.KindThunderbolt, api.KindRDMA, api.KindReach, api.KindLinkProfile,
		api.KindRDMAChange, api.KindNodeState, api.KindCondition,
	}
}

// Cables raises the conditions of this node's cables; health.Cables is one.
type Cables interface {
	// Plugged takes what a port of this Mac is now.
	Plugged(port health.Port)
	// Removed takes that a receptacle is there no more.
	Removed(receptacle api.Receptacle)
	// Networked takes the interfaces of this Mac, which people call by the name.
	Networked(network api.Network, name string)
	// Drawn takes the cables and paths of a new graph.
	Drawn(list api.LinkListResult, name func(api.NodeID) string)
	// Concerned takes what is wrong with the RDMA of this Mac.
	Concerned(causes []api.Cause)
}

// Staleness says which nodes' documents may be old; [Nodes] does.
type Staleness interface {
	// IsStale reports whether a node's documents may be old.
	IsStale(node api.NodeID) bool
	// OnStale has f called whenever other nodes are stale than before, until done.
	OnStale(f func()) (done func())
}

// GraphConfig is what a [Graph] needs.
type GraphConfig struct {
	Ledger    *ledger.Ledger
	Staleness Staleness
	Cables    Cables
	Now       func() time.Time
	// TTL tells how old results may be.
	TTL func() (socket, rdma time.Duration)
	// Drawn hears of every graph that was drawn anew before the conditions are told:
	// ranks that cannot talk any more are ended first. Then hears of it after. Both may
	// be nil.
	Drawn func()
	Then  func(topology.Graph)
}

// Graph follows the documents that the cluster's graph is made of, and tells who
// watches it.
type Graph struct {
	cfg      GraphConfig
	watchers watchers
	read     NodeCache

	mu     sync.Mutex
	list   api.LinkListResult
	built  topology.Graph
	number uint64          // of built, from 1
	drawOf []topology.Node // what built was made of
}

// NewGraph makes what follows the cluster's graph.
func NewGraph(c GraphConfig) *Graph { return &Graph{cfg: c} }

// nodes are what the documents say now of the nodes that the graph is made of.
func (g *Graph) nodes() []topology.Node {
	nodes, _ := g.read.Of(g.cfg.Ledger.List(ledger.Filter{Kinds: GraphKinds()}), g.cfg.Staleness.IsStale)
	return nodes
}

// Build makes the graph of the documents as they are now.
func (g *Graph) Build() topology.Graph { return g.buildOf(g.nodes()) }

func (g *Graph) buildOf(nodes []topology.Node) topology.Graph {
	in := topology.Input{Nodes: nodes, At: api.TimeOf(g.cfg.Now())}
	in.SocketTTL, in.RDMATTL = g.cfg.TTL()
	return topology.Build(in)
}

// CablesNow are the cables of the documents as they are now: those that were drawn last,
// unless something changed since. A job that starts asks.
func (g *Graph) CablesNow() []api.Cable {
	nodes := g.nodes()
	g.mu.Lock()
	drawOf, drawn := g.drawOf, g.list.Cables
	g.mu.Unlock()
	if len(nodes) > 0 && len(nodes) == len(drawOf) && &nodes[0] == &drawOf[0] { // read once, they are shared
		return drawn
	}
	return g.buildOf(nodes).List().Cables
}

// Run follows the documents until ctx ends.
func (g *Graph) Run(ctx context.Context) error {
	found, documents := g.cfg.Ledger.Follow(ledger.WatchOptions{Name: "graph", Filter: ledger.Filter{Kinds: GraphKinds()}, Passive: true})
	defer documents.Close()
	defer g.cfg.Staleness.OnStale(g.draw)()
	g.see(ledger.Change{Put: found})
	for {
		began := time.Now()
		g.draw()
		drawn := time.Now()
		change, err := documents.Next(ctx)
		if err != nil {
			return err
		}
		g.see(change)
		rest := restAfter(drawn.Sub(began), graphSettle) - time.Since(drawn)
		settled, cancel := context.WithTimeout(ctx, max(rest, graphSettle))
		for err == nil && !change.Whole {
			if change, err = documents.Next(settled); err == nil {
				g.see(change)
			}
		}
		cancel()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// see tells the conditions of every version of this node's receptacles and networks: one that
// another overtook within the settling time counts as a change too.
func (g *Graph) see(change ledger.Change) {
	own := g.cfg.Ledger.Node()
	for _, record := range change.Put {
		var port api.Thunderbolt
		var network api.Network
		switch key := record.Key(); {
		case key.Node != own:
		case key.Kind == api.KindThunderbolt && record.Decode(&port) == nil:
			g.cfg.Cables.Plugged(health.Port{Thunderbolt: port, Unknown: record.Document().Unknown})
		case key.Kind == api.KindNetwork && record.Decode(&network) == nil:
			g.cfg.Cables.Networked(network, Name(g.cfg.Ledger, own))
		}
	}
	for _, key := range change.Del {
		if receptacle, err := api.ParseReceptacle(key.Name); err == nil && key.Node == own && key.Kind == api.KindThunderbolt {
			g.cfg.Cables.Removed(receptacle)
		}
	}
}

// draw makes the graph anew and wakes who watches it.
func (g *Graph) draw() {
	nodes := g.nodes()
	built := g.buildOf(nodes)
	list := built.List()
	g.mu.Lock()
	g.list, g.built, g.drawOf = list, built, nodes
	g.number++
	g.mu.Unlock()
	g.watchers.wake()
	if g.cfg.Drawn != nil {
		g.cfg.Drawn()
	}
	g.cfg.Cables.Drawn(list, func(id api.NodeID) string { return Name(g.cfg.Ledger, id) })
	g.cfg.Cables.Concerned(readiness.Concerns(g.cfg.Ledger.Node(), built.RDMACables(), built.Readiness()))
	if g.cfg.Then != nil {
		g.cfg.Then(built)
	}
}

// Latest is the graph as it was drawn last, and its number.
func (g *Graph) Latest() (topology.Graph, uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.built, g.number
}

// watch gives the graph and a channel that has a token whenever it may have
// become another; done ends that. Meanwhile its measurements are kept fresh.
func (g *Graph) watch() (list api.LinkListResult, wake <-chan struct{}, done func()) {
	wake, end := g.watchers.add() // before the graph is read: a change in between wakes
	forget := g.cfg.Ledger.Want(ledger.Filter{Kinds: []api.Kind{api.KindLinkProfile}})
	return g.Current(), wake, func() { end(); forget() }
}

// Current is the graph as it was drawn last.
func (g *Graph) Current() api.LinkListResult {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list
}

// LeadsTo reports whether a cable leads from this node to another: the picture of the
// cables has it, or a change of it that was begun here while it did.
func (g *Graph) LeadsTo(link api.LinkID, to api.NodeID) bool {
	_, isHere := link.End(g.cfg.Ledger.Node())
	_, isThere := link.End(to)
	if !isHere || !isThere || to == g.cfg.Ledger.Node() { // what this node asks of itself it has looked at
		return isHere && isThere
	}
	for _, cable := range g.CablesNow() {
		if cable.Link == link {
			return true
		}
	}
	_, isChanged := g.cfg.Ledger.Get(api.Key{Node: g.cfg.Ledger.Node(), Kind: api.KindRDMAChange, Name: link.String()})
	return isChanged
}

// NodeCache keeps what the documents of the cluster say of its nodes, as they were
// read last: to read them all takes much of the time in which a graph is made, and
// jobs that start have it made several times of the same documents.
type NodeCache struct {
	mu    sync.Mutex
	read  []readNode // of each node of which there are records, in their order
	nodes []topology.Node
	notes []api.Cause
}

// readNode is what was read of one node's documents.
type readNode struct {
	records []*ledger.Record
	isStale bool
	nodes   []topology.Node // one, or none where nothing says anything
	notes   []api.Cause
}

// Of reads documents, ordered by key, unless they are those that were read last, of nodes
// that are as stale as then; a nil isStale: none is. Of a node of which they are, nothing is
// read again. What it gives is shared and must not be changed.
func (r *NodeCache) Of(records []*ledger.Record, isStale func(api.NodeID) bool) ([]topology.Node, []api.Cause) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var read []readNode
	isSame := true
	old := r.read
	for left := records; len(left) > 0; {
		node := left[0].Key().Node
		n := slices.IndexFunc(left, func(record *ledger.Record) bool { return record.Key().Node != node })
		if n < 0 {
			n = len(left)
		}
		now := readNode{records: left[:n], isStale: isStale != nil && isStale(node)}
		left = left[n:]
		for len(old) > 0 && old[0].node() < node {
			old, isSame = old[1:], false
		}
		// A record is one version of a document, so that the same ones say the same.
		if len(old) > 0 && old[0].isStale == now.isStale && slices.Equal(old[0].records, now.records) {
			now = old[0]
		} else {
			isSame = false
			now.read()
		}
		if len(old) > 0 && old[0].node() == node {
			old = old[1:]
		}
		read = append(read, now)
	}
	if isSame && len(old) == 0 {
		return r.nodes, r.notes
	}
	r.read, r.nodes, r.notes = read, nil, nil
	for _, one := range read {
		r.nodes, r.notes = append(r.nodes, one.nodes...), append(r.notes, one.notes...)
	}
	return r.nodes, r.notes
}

func (r *readNode) node() api.NodeID { return r.records[0].Key().Node }

// read reads the documents of one node.
func (r *readNode) read() {
	docs := make([]api.SharedDocument, len(r.records))
	for i, record := range r.records {
		docs[i] = record.Shared()
	}
	r.nodes, r.notes = topology.NodesOfHeld(docs, func(api.NodeID) bool { return r.isStale })
}
