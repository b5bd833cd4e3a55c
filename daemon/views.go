package daemon

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/rdma/trips"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/view"
)

// openCables makes what tells of this node's cables, and takes over what the daemon
// before this one knew: devices that may be stuck, trips, and requests that wait for them.
func (d *daemon) openCables(ctx context.Context) error {
	d.cables = health.NewCables(d.health, d.identity.Node, d.platform.Clock, func(err error) {
		d.logs.Part("health").Error("a condition of a cable could not be published", "error", err)
	})
	d.onClose(func() error { d.cables.Close(); return nil })
	suspects, err := d.records.LoadSuspects()
	if err != nil {
		return err
	}
	d.cables.TakeSuspects(suspects, facts.BootID(ctx, d.platform.Clock, d.platform.Facts), d.records.SaveSuspects)
	former, err := d.records.LoadTrips()
	if err != nil {
		return err
	}
	asked, err := d.records.LoadRequests()
	if err != nil {
		return err
	}
	failed := func(err error) {
		if err != nil {
			d.logs.Part("rdma").Error("what people do for RDMA at Macs could not be kept", "error", err)
		}
	}
	d.trips = trips.New(d.platform.Clock, former, func(all []trips.Kept) { failed(d.records.SaveTrips(all)) })
	d.requests = trips.NewRequests(d.platform.Clock, asked, func(all []trips.KeptRequest) { failed(d.records.SaveRequests(all)) })
	return nil
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
