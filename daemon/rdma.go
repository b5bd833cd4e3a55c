package daemon

import (
	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma"
	"fulmen/native"
)

// openChanges makes what changes this Mac's network for RDMA, and answers the
// other ends of its cables.
func (d *daemon) openChanges() {
	// After each change the network is published again, of which no event of the system
	// tells which services are Fulmen's, and ranks that wait for its end are looked at.
	after := func() {
		d.grants.Recheck()
		d.facts.Reread(native.AreaNetwork)
	}
	d.rdma = rdma.New(rdma.Config{
		Node: d.identity.Node, Clock: d.platform.Clock, Peers: d.peers, Facts: d.platform.Facts, Network: d.platform.Network,
		Records: rdma.UndoFile{Path: d.folders.UndoFile()}, History: d.records.History(),
		Documents: occasions{d.owner("rdma", api.KindRDMAChange), func() {}, after}, Conditions: d.health,
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
