package daemon

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/metrics"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/store"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/view"
)

// openCables makes what tells of this node's cables.
func (d *daemon) openCables() {
	d.cables = health.NewCables(d.health, d.identity.Node, d.platform.Clock, func(err error) {
		d.logs.Part("health").Error("a condition of a cable could not be published", "error", err)
	})
	d.onClose(func() error { d.cables.Close(); return nil })
}

// openViews makes what follows the members, and the graph of their documents.
func (d *daemon) openViews() error {
	names, err := d.records.LoadCalled()
	if err != nil {
		return err
	}
	d.nodes = view.NewNodes(view.NodesConfig{
		Self: d.identity.Node, Started: d.started, Clock: d.platform.Clock, Ledger: d.ledger, Cluster: d.node,
		Members: func() []api.Member { return d.roster.Current().Members() },
		Derive:  liveness.NewCalled(names, d.records.SaveCalled).Derive, Conditions: d.health, Log: d.logs.Part("health"),
	})
	d.graph = view.NewGraph(view.GraphConfig{
		Ledger: d.ledger, Staleness: d.nodes, Cables: d.cables, Now: d.platform.Clock.Now,
		TTL:   d.pathTTL,
		Drawn: func() { d.jobs.LinksChanged() },
		Then: func(built topology.Graph) {
			d.trips.See(built.RDMACables())
			d.requests.Look()
			d.profiler.Recheck()
		},
	})
	d.shown = view.Shown{Ledger: d.ledger, Nodes: d.nodes, Graph: d.graph, Own: d.health.Shown}
	return nil
}

// openEvents makes what keeps the events.
func (d *daemon) openEvents() {
	d.events = view.NewEvents(view.EventsConfig{
		Clock: d.platform.Clock, Ledger: d.ledger, Nodes: d.nodes, Graph: d.graph, Shown: d.shown, Jobs: d.jobs, Begun: d.facts.Begun(),
	})
}

// viewHandlers are the methods by which clients see what is derived.
func (d *daemon) viewHandlers() server.Handlers {
	return view.Methods{
		Ledger: d.ledger, Nodes: d.nodes, Graph: d.graph, Events: d.events, Shown: d.shown,
		// A database that nothing is written to may be damaged all the same: whoever looks finds out.
		Alive: func() error { return d.database.View(func(store.Reader) error { return nil }) },
		Reads: func(c *server.Caller) func(api.Principal) bool {
			by, isAdmin := c.Principal(), c.Class() == api.ClassAdmin
			return func(whose api.Principal) bool { return isAdmin || d.lending.May(by, whose) }
		},
	}.Handlers()
}

// pathTTL tells how old measurements of paths may be.
func (d *daemon) pathTTL() (socket, rdma time.Duration) {
	current := d.live.Current().Measure
	return current.SocketTTL, current.RDMATTL
}

// metrics answers scrapes with what this node knows, without asking others.
func (d *daemon) metrics() http.Handler {
	return metrics.Handler(metrics.Source{
		Version: d.options.Version, Node: d.identity.Node,
		Nodes: func() api.NodeListResult { return d.nodes.Current().List() },
		Links: d.graph.Current,
		Docs: func(kinds ...api.Kind) (docs []api.Document) {
			for _, record := range d.ledger.List(ledger.Filter{Kinds: kinds}) {
				docs = append(docs, record.Document())
			}
			return docs
		},
		Measurements: func() (all []metrics.Measurements) {
			for c, n := range d.profiler.Counts() {
				all = append(all, metrics.Measurements{Kind: c.Kind, IsAsked: c.IsAsked, State: c.State, Count: n})
			}
			slices.SortFunc(all, func(a, b metrics.Measurements) int {
				return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.State, b.State))
			})
			return all
		},
		Missed: d.facts.Missed,
	})
}

// nameOf is what people call a node by its own document, where there is no view yet.
func (d *daemon) nameOf(id api.NodeID) string { return view.Name(d.ledger, id) }
