package daemon

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/rdma/trips"
	"fulmen/native"
)

// openChanges makes what changes this Mac's network for RDMA, and answers the
// other ends of its cables.
func (d *daemon) openChanges() {
	d.changes = rdma.New(rdma.Config{
		Node: d.identity.Node, Clock: d.platform.Clock, Peers: d.peers, Facts: d.platform.Facts, Network: d.platform.Network,
		Records: rdma.UndoFile{Path: d.folders.UndoFile()}, History: d.records.History(),
		Documents: claiming{d.owner("rdma", api.KindRDMAChange), d}, Conditions: d.health,
		Allowed: d.policy.AllowsRDMAChange, Check: func(link api.LinkID) *api.Error {
			return rdma.MayEnable(d.graph.Build(), link, d.nodes.Name(d.identity.Node))
		}, Able: d.able, Busy: d.grants.Disturbed, Quiet: d.grants.Quiet,
		Others: func(node api.NodeID, link api.LinkID) (api.RDMAChange, bool) {
			return rdma.ChangeOf(d.ledger, node, link)
		}, Name: d.nodes.Name, Prove: d.profiler.Prove, Idle: d.grants.Recheck, Log: d.logs.Part("rdma"),
	})
	d.onClose(func() error { d.changes.Close(); return nil })
}

// claiming publishes changes, and has the network published again after each: which
// services are Fulmen's is a part of it that no event of the system tells. Ranks that
// wait for the end of a change are looked at again.
type claiming struct {
	documents
	daemon *daemon
}

// Put publishes a change.
func (c claiming) Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error {
	defer c.daemon.facts.Reread(native.AreaNetwork)
	defer c.daemon.grants.Recheck() // ranks wait for its end
	return c.documents.Put(kind, name, value, unknown)
}

// able says why this machine's system cannot do something; nil where it can.
func (d *daemon) able(feature native.Feature) error {
	if d.capabilities == nil {
		return nil // it could not be asked; the change itself tells
	}
	return d.capabilities.Need(feature)
}

// openTrips takes over the trips and the requests that the daemon before this one has
// followed.
func (d *daemon) openTrips() error {
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

// openSuspects takes over which RDMA devices may be stuck.
func (d *daemon) openSuspects(ctx context.Context) error {
	kept, err := d.records.LoadSuspects()
	if err != nil {
		return err
	}
	d.cables.TakeSuspects(kept, facts.BootID(ctx, d.platform.Clock, d.platform.Facts), d.records.SaveSuspects)
	return nil
}
