package daemon

import (
	"context"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/topology/readiness"
)

// graphSettle is how long the graph waits after a change for those that belong
// to it: a plugged cable changes three documents at each end.
const graphSettle = 20 * time.Millisecond

// graphKinds are the kinds of documents that the graph is made of.
func graphKinds() []api.Kind {
	return []api.Kind{
		api.KindIdentity, api.KindNetwork, api.KindThunderbolt, api.KindRDMA, api.KindReach, api.KindLinkProfile,
		api.KindRDMAChange, api.KindNodeState, api.KindCondition,
	}
}

// graph follows the documents that the cluster's graph is made of, and tells
// who watches it.
type graph struct {
	ledger  *ledger.Ledger
	cables  *health.Cables
	now     func() time.Time
	expired func() (socket, rdma time.Duration)
	// stale reports whether a node's documents may be old.
	stale func(api.NodeID) bool
	// drawn is told of every graph that was drawn anew; nil = nobody. It is set
	// before the graph is followed.
	drawn func()
	// trips are those that people make for RDMA; continued hears of every graph, after
	// them: nil = nobody.
	trips     *trips
	continued func()

	watchers watchers
	read     readNodes

	// redrawn hears of it too, at the very end; it returns at once.
	redrawn func()

	mu     sync.Mutex
	list   api.LinkListResult
	built  topology.Graph
	number uint64          // of built, from 1
	drawOf []topology.Node // what built was made of
}

// openGraph makes what follows the cluster's graph.
func (d *daemon) openGraph() {
	cables := health.NewCables(d.health, d.identity.Node, d.platform.Clock, func(err error) {
		d.logs.part("health").Error("a condition of a cable could not be published", "error", err)
	})
	d.onClose(func() error { cables.Close(); return nil })
	d.continued = newContinued(d.platform.Clock)
	d.graph = &graph{ledger: d.ledger, cables: cables, now: d.platform.Clock.Now, redrawn: d.recheckMeasurements,
		trips: &trips{clock: d.platform.Clock}, continued: d.continued.nudge,
		stale: func(id api.NodeID) bool { return d.nodes != nil && d.nodes.isStale(id) },
		expired: func() (socket, rdma time.Duration) {
			current := d.live.Current().Measure
			return current.SocketTTL, current.RDMATTL
		},
	}
}

// nodes are what the documents say now of the nodes that the graph is made of.
func (g *graph) nodes() []topology.Node {
	nodes, _ := g.read.of(g.ledger.List(ledger.Filter{Kinds: graphKinds()}), g.stale)
	return nodes
}

// build makes the graph of the documents as they are now.
func (g *graph) build() topology.Graph { return g.buildOf(g.nodes()) }

func (g *graph) buildOf(nodes []topology.Node) topology.Graph {
	in := topology.Input{Nodes: nodes, At: api.TimeOf(g.now())}
	in.SocketTTL, in.RDMATTL = g.expired()
	return topology.Build(in)
}

// cablesNow are the cables of the documents as they are now: those that were drawn last,
// unless something changed since. A job that starts asks.
func (g *graph) cablesNow() []api.Cable {
	nodes := g.nodes()
	g.mu.Lock()
	drawOf, drawn := g.drawOf, g.list.Cables
	g.mu.Unlock()
	if len(nodes) > 0 && len(nodes) == len(drawOf) && &nodes[0] == &drawOf[0] { // read once, they are shared
		return drawn
	}
	return g.buildOf(nodes).List().Cables
}

// run follows the documents until ctx ends.
func (g *graph) run(ctx context.Context) error {
	found, documents := g.ledger.Follow(ledger.WatchOptions{Name: "graph", Filter: ledger.Filter{Kinds: graphKinds()}, Passive: true})
	defer documents.Close()
	g.see(ledger.Change{Put: found})
	for {
		g.draw()
		change, err := documents.Next(ctx)
		if err != nil {
			return err
		}
		g.see(change)
		settled, cancel := context.WithTimeout(ctx, graphSettle)
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
func (g *graph) see(change ledger.Change) {
	own := g.ledger.Node()
	for _, record := range change.Put {
		var port api.Thunderbolt
		var network api.Network
		switch key := record.Key(); {
		case key.Node != own:
		case key.Kind == api.KindThunderbolt && record.Decode(&port) == nil:
			g.cables.Plugged(health.Port{Thunderbolt: port, Unknown: record.Document().Unknown})
		case key.Kind == api.KindNetwork && record.Decode(&network) == nil:
			g.cables.Networked(network, g.name(own))
		}
	}
	for _, key := range change.Del {
		if receptacle, err := api.ParseReceptacle(key.Name); err == nil && key.Node == own && key.Kind == api.KindThunderbolt {
			g.cables.Removed(receptacle)
		}
	}
}

// draw makes the graph anew and wakes who watches it.
func (g *graph) draw() {
	nodes := g.nodes()
	built := g.buildOf(nodes)
	list := built.List()
	g.mu.Lock()
	g.list, g.built, g.drawOf = list, built, nodes
	g.number++
	g.mu.Unlock()
	g.watchers.wake()
	if g.drawn != nil {
		g.drawn() // ranks that cannot talk any more are ended before anything else is looked at
	}
	g.cables.Drawn(list, g.name)
	cables := built.RDMACables()
	g.cables.Concerned(readiness.Concerns(g.ledger.Node(), cables, built.Readiness()))
	g.trips.see(cables)
	if g.continued != nil {
		g.continued()
	}
	if g.redrawn != nil {
		g.redrawn()
	}
}

// latest is the graph as it was drawn last, and its number.
func (g *graph) latest() (topology.Graph, uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.built, g.number
}

// name is what people call a node.
func (g *graph) name(node api.NodeID) string {
	var identity api.Identity
	record, found := g.ledger.Get(api.Key{Node: node, Kind: api.KindIdentity})
	if found && record.Decode(&identity) == nil && identity.ShortName != "" {
		return identity.ShortName
	}
	return node.Display()
}

// watch gives the graph and a channel that has a token whenever it may have
// become another; done ends that. Meanwhile its measurements are kept fresh.
func (g *graph) watch() (list api.LinkListResult, wake <-chan struct{}, done func()) {
	wake, end := g.watchers.add() // before the graph is read: a change in between wakes
	forget := g.ledger.Want(ledger.Filter{Kinds: []api.Kind{api.KindLinkProfile}})
	return g.current(), wake, func() { end(); forget() }
}

// current is the graph as it was drawn last.
func (g *graph) current() api.LinkListResult {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list
}
