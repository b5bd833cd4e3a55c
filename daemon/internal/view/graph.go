package view

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native/waker"
)

const (
	// graphSettle is how long the graph waits after a change for those that belong
	// to it: a plugged cable changes three documents at each end.
	graphSettle = 20 * time.Millisecond
	// farSettle is how long it waits after a change of paths between other Macs alone:
	// while Macs join there is one for each two of them.
	farSettle = 250 * time.Millisecond
	// mostRest bounds how long something that is derived rests.
	mostRest = time.Second
)

// restAfter is how long something that took so long to derive rests until it is derived
// again, where documents go on to change, as while Macs join: it takes up to a twentieth
// of the time. Least is where it takes none.
func restAfter(took, least time.Duration) time.Duration { return min(max(19*took, least), mostRest) }

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
	Cables    *health.Cables // raises the conditions of this node's cables
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
	watchers waker.Group // who waits for it to become another
	read     NodeCache

	mu     sync.Mutex
	built  topology.Graph
	number uint64          // of built, from 1
	drawOf []topology.Node // what built was made of
}

// NewGraph makes what follows the cluster's graph.
func NewGraph(c GraphConfig) *Graph { return &Graph{cfg: c} }

// nodes are what the documents say now of the nodes that the graph is made of.
func (g *Graph) nodes() []topology.Node {
	nodes, _ := g.read.Of(g.cfg.Ledger.List(ledger.Filter{Kinds: topology.Kinds()}), g.cfg.Staleness.IsStale)
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
	drawOf, drawn := g.drawOf, g.built
	g.mu.Unlock()
	if len(nodes) > 0 && len(nodes) == len(drawOf) && &nodes[0] == &drawOf[0] { // read once, they are shared
		return drawn.Cables().Cables
	}
	return g.buildOf(nodes).Cables().Cables
}

// Run follows the documents until ctx ends.
func (g *Graph) Run(ctx context.Context) error {
	found, documents := g.cfg.Ledger.Follow(ledger.WatchOptions{Name: "graph", Filter: ledger.Filter{Kinds: topology.Kinds()}, Passive: true})
	defer documents.Close()
	near, far := waker.New(), waker.New()
	defer g.cfg.Staleness.OnStale(near.Wake)()
	g.see(ledger.Change{Put: found})
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() {
		for {
			change, err := documents.Next(ctx)
			if err != nil {
				return
			}
			if g.see(change); change.Whole || !g.isFar(change) {
				near.Wake()
			}
			far.Wake()
		}
	})
	for {
		began := time.Now()
		g.draw()
		drawn := time.Now()
		settle := graphSettle
		select {
		case <-ctx.Done():
		case <-near:
		case <-far:
			if !wokenWithin(ctx, farSettle, near) {
				settle = 0
			}
		}
		wokenWithin(ctx, max(restAfter(drawn.Sub(began), graphSettle)-time.Since(drawn), settle), nil)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, w := range []waker.Waker{near, far} { // what is drawn has all that came until now
			select {
			case <-w:
			default:
			}
		}
	}
}

// wokenWithin waits until it is woken, and is false where that took too long or ctx ended.
func wokenWithin(ctx context.Context, d time.Duration, woken <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-woken:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// isFar reports whether a change is of paths between other Macs alone.
func (g *Graph) isFar(change ledger.Change) bool {
	isNear := func(key api.Key) bool { return key.Kind != api.KindReach || key.Node == g.cfg.Ledger.Node() }
	return !slices.ContainsFunc(change.Put, func(r *ledger.Record) bool { return isNear(r.Key()) }) && !slices.ContainsFunc(change.Del, isNear)
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
			g.cfg.Cables.Plugged(port, record.Document().Unknown)
		case key.Kind == api.KindNetwork && record.Decode(&network) == nil:
			g.cfg.Cables.Networked(network, Name(g.cfg.Ledger, own))
		}
	}
	for _, key := range change.Del {
		if portNumber, err := api.ParsePortNumber(key.Name); err == nil && key.Node == own && key.Kind == api.KindThunderbolt {
			g.cfg.Cables.Removed(portNumber)
		}
	}
}

// draw makes the graph anew and wakes who watches it.
func (g *Graph) draw() {
	nodes := g.nodes()
	built := g.buildOf(nodes)
	g.mu.Lock()
	g.built, g.drawOf = built, nodes
	g.number++
	g.mu.Unlock()
	g.watchers.Wake()
	if g.cfg.Drawn != nil {
		g.cfg.Drawn()
	}
	g.cfg.Cables.Drawn(built.Cables(), func(id api.NodeID) string { return Name(g.cfg.Ledger, id) })
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
	wake, end := g.watchers.Add() // before the graph is read: a change in between wakes
	forget := g.cfg.Ledger.Want(ledger.Filter{Kinds: []api.Kind{api.KindLinkProfile}})
	return g.Current(), wake, func() { end(); forget() }
}

// Current is the graph as it was drawn last.
func (g *Graph) Current() api.LinkListResult {
	built, _ := g.Latest()
	return built.List()
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
	read  map[api.NodeID]*readNode
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
	read := make(map[api.NodeID]*readNode, len(r.read))
	var nodes []topology.Node
	var notes []api.Cause
	isSame := true
	for left := records; len(left) > 0; {
		node := left[0].Key().Node
		n := slices.IndexFunc(left, func(record *ledger.Record) bool { return record.Key().Node != node })
		if n < 0 {
			n = len(left)
		}
		now, stale := r.read[node], isStale != nil && isStale(node)
		// A record is one version of a document, so that the same ones say the same.
		if now == nil || now.isStale != stale || !slices.Equal(now.records, left[:n]) {
			isSame, now = false, &readNode{records: left[:n], isStale: stale}
			now.read()
		}
		read[node], left = now, left[n:]
		nodes, notes = append(nodes, now.nodes...), append(notes, now.notes...)
	}
	if !isSame || len(read) != len(r.read) {
		r.read, r.nodes, r.notes = read, nodes, notes
	}
	return r.nodes, r.notes
}

// read reads the documents of one node.
func (r *readNode) read() {
	docs := make([]api.SharedDocument, len(r.records))
	for i, record := range r.records {
		docs[i] = record.Shared()
	}
	r.nodes, r.notes = topology.NodesOfHeld(docs, func(api.NodeID) bool { return r.isStale })
}

// linkList is the graph of the documents as they are now.
func (m Methods) linkList(context.Context, *server.Caller, api.Empty) (api.LinkListResult, error) {
	return m.Graph.Build().List(), nil
}

// linkGet is one cable with what was measured on it and its readiness for RDMA.
func (m Methods) linkGet(_ context.Context, _ *server.Caller, p api.LinkSelect) (api.LinkGetResult, error) {
	graph := m.Graph.Build()
	list := graph.List()
	cable, err := topology.FindCable(list.Cables, p.Link, m.Nodes.Find)
	if err != nil {
		return api.LinkGetResult{}, err
	}
	result := api.LinkGetResult{Cable: cable, Rows: []api.LinkRow{}, RDMA: graph.ReadinessOf(cable)}
	for _, row := range list.Rows {
		if cable.Link.Valid() && row.Link == cable.Link {
			result.Rows = append(result.Rows, row)
		}
	}
	return result, nil
}

// linkWatch is the graph, and every change after.
func (m Methods) linkWatch(_ context.Context, c *server.Caller, _ api.Empty) (api.LinkWatchResult, error) {
	sub, list, err := stream(c, m.Graph, topology.Diff,
		func(sub api.Subscription, n uint64, change api.LinkChanged) any {
			change.Sub, change.N = sub, n
			return change
		},
		func(sub api.Subscription) any { return api.LinkChanged{Sub: sub, Lagged: true} })
	if err != nil {
		return api.LinkWatchResult{}, err
	}
	return api.LinkWatchResult{Sub: sub, LinkListResult: list}, nil
}

// linkExport writes the graph for another tool.
func (m Methods) linkExport(_ context.Context, _ *server.Caller, p api.LinkExportParams) (api.LinkExportResult, error) {
	graph := m.Graph.Build()
	graph.Trusted = m.Trusted()
	return graph.Export(p, m.Nodes.Find)
}

// derived is something that is derived anew after every change.
type derived[V any] interface {
	// watch gives it as it is, and a channel with a token whenever it may have
	// become another.
	watch() (now V, wake <-chan struct{}, done func())
	// Current is it as it is.
	Current() V
}

// stream gives a client something derived, and what changes after it. tell makes
// the message of a change, lagged the last word of a subscription that is over.
func stream[V, C any](c *server.Caller, of derived[V], diff func(before, after V) (C, bool),
	notify func(sub api.Subscription, n uint64, change C) any, lagged func(api.Subscription) any,
) (sub api.Subscription, first V, err error) {
	s, err := c.Subscribe(lagged)
	if err != nil {
		return sub, first, err
	}
	first, wake, done := of.watch()
	go func() {
		defer s.End()
		defer done()
		for seen := first; ; {
			select {
			case <-s.Done():
				return
			case <-wake:
			}
			now := of.Current()
			change, changed := diff(seen, now)
			if !changed {
				continue
			}
			seen = now
			err := s.Send("", func(n uint64) any { return notify(s.Sub(), n, change) })
			if errors.Is(err, api.ReasonMessageTooLarge) {
				_ = s.Send("", func(uint64) any { return lagged(s.Sub()) }) // the last word
			}
			if err != nil {
				return
			}
		}
	}()
	return s.Sub(), first, nil
}
