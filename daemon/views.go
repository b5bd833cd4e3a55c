package daemon

import (
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/view"
)

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
		TTL:   func() (socket, rdma time.Duration) { return d.live.Current().Measure.PathTTL() },
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
