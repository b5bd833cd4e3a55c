package daemon

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/rdma"
	"fulmen/daemon/internal/rdma/useractions"
	"fulmen/native"
)

// openCables makes what tells of this node's cables, and takes over what the daemon
// before this one knew: devices that may be stuck, trips, and requests that wait for them.
func (d *daemon) openCables(ctx context.Context) error {
	d.cables = health.NewCables(d.conditions, d.identity.Node, d.platform.Clock)
	d.onClose(func() error { d.cables.Close(); return nil })
	suspects, err := d.records.Suspects().Load()
	if err != nil {
		return err
	}
	d.cables.TakeSuspects(suspects, facts.BootID(ctx, d.platform.Clock, d.platform.Facts), d.records.Suspects().Save)
	former, err := d.records.UserActions().Load()
	if err != nil {
		return err
	}
	asked, err := d.records.Requests().Load()
	if err != nil {
		return err
	}
	failed := func(err error) {
		if err != nil {
			d.logs.Part("rdma").Error("what people do for RDMA at Macs could not be kept", "error", err)
		}
	}
	d.userActions = useractions.New(d.platform.Clock, former, func(all []useractions.Kept) { failed(d.records.UserActions().Save(all)) })
	d.requests = useractions.NewRequests(d.platform.Clock, asked, func(all []useractions.KeptRequest) { failed(d.records.Requests().Save(all)) })
	return nil
}

// openChanges makes what changes this Mac's network for RDMA, and answers the
// other ends of its cables.
func (d *daemon) openChanges() {
	// After each change the network is published again, of which no event of the system
	// tells which services are Fulmen's, and ranks that wait for its end are looked at.
	after := func() {
		d.grants.Recheck()
		d.facts.Reread(native.AreaNetwork)
	}
	documents := d.owner("rdma", api.KindRDMAChange)
	documents.After = after
	d.rdma = rdma.New(rdma.Config{
		Node: d.identity.Node, Clock: d.platform.Clock, Peers: d.peers, Facts: d.platform.Facts, Network: d.platform.Network,
		Records: rdma.UndoFile{Path: d.folders.UndoFile()}, History: d.records.History(),
		Documents: documents, Conditions: d.conditions,
		Allowed: d.policy.AllowsRDMAChange, Check: func(link api.LinkID) *api.Error {
			return rdma.MayEnable(d.graph.Build(), link, d.nodes.Name(d.identity.Node))
		}, Able: func(feature native.Feature) error {
			if d.capabilities == nil {
				return nil // it could not be asked; the change itself tells
			}
			return d.capabilities.Need(feature)
		}, Busy: d.grants.Disturbed, Quiet: d.grants.Quiet,
		Others: func(node api.NodeID, link api.LinkID) (api.RDMAChange, bool) {
			return rdma.ChangeOf(d.ledger, node, link)
		}, Name: d.nodes.Name, Prove: d.profiler.Prove, Idle: d.grants.Recheck, Log: d.logs.Part("rdma"),
	})
	d.onClose(func() error { d.rdma.Close(); return nil })
}
