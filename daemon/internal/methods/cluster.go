package methods

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/node"
	"fulmen/daemon/internal/cluster/policy"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/topology"
	"fulmen/daemon/internal/view"
	"fulmen/native"
)

// Cluster are the methods of the cluster.
type Cluster struct {
	Node   *node.Node
	Roster *node.Holder
	Policy *policy.Policy
	Nodes  *view.Nodes
	Ledger *ledger.Ledger
	Clock  native.Clock
	// Joined is called when this node has joined a cluster.
	Joined func()
	Log    *slog.Logger
}

// Handlers are the methods.
func (d Cluster) Handlers() server.Handlers {
	return server.Handlers{
		"cluster.peers": server.Handle(d.clusterPeers),
		"cluster.pair": server.Handle(func(_ context.Context, c *server.Caller, p api.ClusterPairParams) (api.ClusterPairResult, error) {
			d.Log.Info("Add a Mac", "uid", c.UID, "close", p.Close)
			return d.Node.Pair(p), nil
		}),
		"cluster.join": server.Handle(func(ctx context.Context, c *server.Caller, p api.ClusterJoinParams) (api.ClusterJoinResult, error) {
			d.Log.Info("asked to join a cluster", "uid", c.UID)
			result, err := d.Node.Join(ctx, p)
			if err != nil {
				return result, err
			}
			d.Joined()
			d.awaitNames(ctx)
			d.name(result.Members)
			return result, nil
		}),
		"cluster.answer": server.Handle(func(ctx context.Context, c *server.Caller, p api.ClusterAnswerParams) (api.Empty, error) {
			d.Log.Info("answered a Mac that asks", "uid", c.UID, "node", p.Node, "state", p.State)
			return api.Empty{}, d.Node.Answer(ctx, p)
		}),
		"cluster.invite": server.Handle(func(_ context.Context, c *server.Caller, p api.ClusterInviteParams) (api.ClusterInviteResult, error) {
			d.Log.Info("asked for an invitation", "uid", c.UID)
			return d.Node.Invite(p)
		}),
		"cluster.remove": server.Handle(d.clusterRemove),
		"cluster.users": server.Handle(func(_ context.Context, c *server.Caller, _ api.Empty) (api.ClusterUsersResult, error) {
			return d.Policy.Users(c.Class() == api.ClassAdmin), nil
		}),
		"cluster.map_user": server.Handle(func(_ context.Context, c *server.Caller, p api.ClusterMapUserParams) (api.Empty, error) {
			d.Log.Info("asked to change the map of users", "uid", c.UID)
			return api.Empty{}, d.Policy.MapUser(p)
		}),
		"cluster.sharing": server.Handle(func(context.Context, *server.Caller, api.Empty) (api.Sharing, error) {
			return d.Policy.Sharing(), nil
		}),
		"cluster.set_sharing": server.Handle(func(ctx context.Context, c *server.Caller, p api.ClusterSetSharingParams) (api.Sharing, error) {
			d.Log.Info("asked to change what is lent", "uid", c.UID)
			return d.Policy.SetSharing(ctx, p)
		}),
	}
}

// namesWithin is how long somebody who has just joined waits to be told the
// members by their names.
const namesWithin = time.Second

// awaitNames waits until the members' identities are here, for a moment.
func (d Cluster) awaitNames(ctx context.Context) {
	ctx, cancel := native.WithTimeout(ctx, d.Clock, namesWithin, "the members' names")
	defer cancel()
	all := d.Nodes.Await(ctx, func() bool {
		return !slices.ContainsFunc(d.Roster.Members(), func(id api.NodeID) bool {
			_, found := d.Ledger.Get(api.Key{Node: id, Kind: api.KindIdentity})
			return !found
		})
	})
	if all {
		d.Nodes.Derive()
	}
}

// clusterPeers is the roster with the members' names.
func (d Cluster) clusterPeers(context.Context, *server.Caller, api.Empty) (api.ClusterPeersResult, error) {
	r := d.Roster.Current()
	members := r.Members()
	d.name(members)
	return api.ClusterPeersResult{Cluster: r.Cluster(), Members: members}, nil
}

// name gives members their short names.
func (d Cluster) name(members []api.Member) {
	names := d.Nodes.Current().Names()
	for i := range members {
		members[i].ShortName = names[members[i].Node]
	}
}

// clusterRemove removes members for good.
func (d Cluster) clusterRemove(ctx context.Context, c *server.Caller, p api.ClusterRemoveParams) (api.ClusterRemoveResult, error) {
	ids, err := topology.FindAll(p.Nodes, d.Nodes.Find)
	if err != nil {
		return api.ClusterRemoveResult{}, err
	}
	if len(ids) == 0 {
		return api.ClusterRemoveResult{}, api.BadValue("nodes", "no node is named")
	}
	if !p.DryRun {
		d.Log.Info("asked to remove", "uid", c.UID, "nodes", ids)
	}
	return d.Node.Remove(ctx, ids, p.DryRun)
}
