package daemon

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/audit"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/liveness"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/daemon/internal/cluster/policy"
	"fulmen/daemon/internal/facts"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/view"
)

// openCluster makes what this node is among others: what it lends, what it says
// of itself, and its connections.
func (d *daemon) openCluster() error {
	records := d.records
	log := d.logs.Part("cluster")
	_, idle := policy.Unused(context.Background(), d.platform.Facts)
	var err error
	d.policy, err = policy.Open(policy.Options{
		Node: d.identity.Node, Cluster: d.roster.Cluster(), IsMember: d.roster.IsMember, Store: records,
		Documents: d.owner("cluster", api.KindSharing), Accounts: policy.SystemAccounts{}, Bounds: policy.SystemBounds(),
		KeepAwake: d.platform.Power.KeepAwake, IdleUnknown: idle, Log: log,
	})
	if err != nil {
		return err
	}
	d.onClose(d.policy.Close)
	d.sharing = policy.Now{Policy: d.policy, Ledger: d.ledger, Facts: d.platform.Facts}
	// What the gate reads of jobs and cables is there before anybody calls.
	d.gate = gate.New(gate.Config{
		Self: d.identity.Node, Electors: d.roster,
		Known: func(id api.JobID) (gate.Known, bool) { return d.jobs.Asked(id) },
		Bound: func(s api.Step, a api.Act) bool { return d.jobs.Bound(s, a) },
		Maps:  d.sharing.Maps, Shares: d.sharing.Shares, Reads: func(by api.Principal) api.Reason {
			_, reason := d.policy.MayRead(by)
			return reason
		}, Cable: func(link api.LinkID, to api.NodeID) bool { return d.graph.LeadsTo(link, to) }, Record: func(e gate.Entry) {
			account, _ := d.sharing.Allows(e.Of)
			d.audit.Record(audit.OfPeer(e, account))
		}, Clock: d.platform.Clock, Log: d.logs.Part("gate"),
	})
	current := d.live.Current()
	d.node, err = node.New(node.Options{
		Identity: d.identity, Roster: d.roster, Ledger: d.ledger, Writer: d.writer,
		Documents: d.owner("cluster", api.KindReach, api.KindPending), Sharing: d.policy, Gate: d.gate, Platform: d.platform,
		Addresses: records, Discovery: records, LastSeen: records, Port: current.Peers.Port, Peers: current.Peers.Addresses, Version: d.options.Version,
		Protocol: api.Protocol, ProtocolMin: api.ProtocolMin,
		Card: func() pairing.Card {
			identity := facts.Published{Ledger: d.ledger}.Identity()
			return pairing.Card{Name: identity.Name, ShortName: identity.ShortName, ModelName: identity.ModelName, Version: d.options.Version}
		}, Removed: func() {
			// This node's key counts nowhere any more: it is put aside, and the daemon begins
			// anew with another one.
			log.Warn("this node was removed from its cluster; it begins anew with another key")
			if err := cluster.RetireIdentity(d.folders.State); err != nil {
				log.Error("the key could not be put aside", "error", err)
			}
			d.restart()
		}, Twin: func(node api.NodeID, at string) {
			if at != "" {
				at = "the other one is at " + at
			}
			d.conditions.SetOf(api.ReasonDuplicateIdentity, string(node), at)
		}, Denied: func(detail string) { d.conditions.Set(api.ReasonLocalNetworkDenied, detail) },
		Clocks: func(ahead map[api.NodeID]time.Duration) {
			for code, detail := range health.Clocks(ahead, d.nameOf) {
				d.conditions.Set(code, detail)
			}
		}, Log: func(part string) *slog.Logger { return log.With("part", part) },
	})
	if err != nil {
		return err
	}
	d.self = policy.NewSelf(policy.SelfOptions{
		Documents: d.owner("cluster", api.KindNodeState), Power: d.platform.Power, Clock: d.platform.Clock,
		Flush: d.node.Flush, Depart: func(ctx context.Context, state api.SelfState, why api.Reason) { d.departure.EndRanks(ctx, state, why) }, IdleUnknown: cmp.Or(idle, api.ReasonNotYetRead), Log: log,
	})
	return nil
}

// openViews makes what follows the members, and the graph of their documents.
func (d *daemon) openViews() error {
	names, err := d.records.Called().Load()
	if err != nil {
		return err
	}
	d.nodes = view.NewNodes(view.NodesConfig{
		Self: d.identity.Node, Started: d.started, Clock: d.platform.Clock, Ledger: d.ledger, Cluster: d.node,
		Members: func() []api.Member { return d.roster.Current().Members() },
		Derive:  liveness.NewCalled(names, d.records.Called().Save).Derive, Conditions: d.conditions,
	})
	d.graph = view.NewGraph(view.GraphConfig{
		Ledger: d.ledger, Staleness: d.nodes, Cables: d.cables, Now: d.platform.Clock.Now,
		TTL:   func() (socket, rdma time.Duration) { return d.live.Current().Measure.PathTTL() },
		Drawn: func() { d.jobs.LinksChanged() },
		Then: func(built topology.Graph) {
			d.userActions.See(built.RDMACables())
			d.requests.Look()
			d.profiler.Recheck()
		},
	})
	d.shown = view.Shown{Ledger: d.ledger, Nodes: d.nodes, Graph: d.graph, Own: d.conditions.Shown}
	return nil
}
