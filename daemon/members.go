package daemon

import (
	"context"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/native"
)

// clusterHandlers are the methods of the cluster.
func (d *daemon) clusterHandlers() server.Handlers {
	return server.Handlers{
		"cluster.peers": server.Handle(d.clusterPeers),
		"cluster.pair": server.Handle(func(_ context.Context, c *server.Caller, p api.ClusterPairParams) (api.ClusterPairResult, error) {
			d.logs.Part("cluster").Info("Add a Mac", "uid", c.UID, "close", p.Close)
			return d.node.Pair(p), nil
		}),
		"cluster.join": server.Handle(func(ctx context.Context, c *server.Caller, p api.ClusterJoinParams) (api.ClusterJoinResult, error) {
			d.logs.Part("cluster").Info("asked to join a cluster", "uid", c.UID)
			result, err := d.node.Join(ctx, p)
			if err != nil {
				return result, err
			}
			d.conditions.Clear(api.ReasonRemoved)
			d.awaitNames(ctx)
			d.name(result.Members)
			return result, nil
		}),
		"cluster.answer": server.Handle(func(ctx context.Context, c *server.Caller, p api.ClusterAnswerParams) (api.Empty, error) {
			d.logs.Part("cluster").Info("answered a Mac that asks", "uid", c.UID, "node", p.Node, "state", p.State)
			return api.Empty{}, d.node.Answer(ctx, p)
		}),
		"cluster.invite": server.Handle(func(_ context.Context, c *server.Caller, p api.ClusterInviteParams) (api.ClusterInviteResult, error) {
			d.logs.Part("cluster").Info("asked for an invitation", "uid", c.UID)
			return d.node.Invite(p)
		}),
		"cluster.remove": server.Handle(d.clusterRemove),
		"cluster.users": server.Handle(func(_ context.Context, c *server.Caller, _ api.Empty) (api.ClusterUsersResult, error) {
			return d.policy.Users(c.Class() == api.ClassAdmin), nil
		}),
		"cluster.map_user": server.Handle(func(_ context.Context, c *server.Caller, p api.ClusterMapUserParams) (api.Empty, error) {
			d.logs.Part("cluster").Info("asked to change the map of users", "uid", c.UID)
			return api.Empty{}, d.policy.MapUser(p)
		}),
		"cluster.sharing": server.Handle(func(context.Context, *server.Caller, api.Empty) (api.Sharing, error) {
			return d.policy.Sharing(), nil
		}),
		"cluster.set_sharing": server.Handle(func(ctx context.Context, c *server.Caller, p api.ClusterSetSharingParams) (api.Sharing, error) {
			d.logs.Part("cluster").Info("asked to change what is lent", "uid", c.UID)
			return d.policy.SetSharing(ctx, p)
		}),
	}
}

// namesWithin is how long somebody who has just joined waits to be told the
// members by their names.
const namesWithin = time.Second

// awaitNames waits until the members' identities are here, for a moment.
func (d *daemon) awaitNames(ctx context.Context) {
	ctx, cancel := native.WithTimeout(ctx, d.platform.Clock, namesWithin, "the members' names")
	defer cancel()
	all := d.nodes.Await(ctx, func() bool {
		return !slices.ContainsFunc(d.roster.Members(), func(id api.NodeID) bool {
			_, found := d.ledger.Get(api.Key{Node: id, Kind: api.KindIdentity})
			return !found
		})
	})
	if all {
		d.nodes.Derive()
	}
}

// clusterPeers is the roster with the members' names.
func (d *daemon) clusterPeers(context.Context, *server.Caller, api.Empty) (api.ClusterPeersResult, error) {
	r := d.roster.Current()
	members := r.Members()
	d.name(members)
	return api.ClusterPeersResult{Cluster: r.Cluster(), Members: members}, nil
}

// name gives members their short names.
func (d *daemon) name(members []api.Member) {
	names := d.nodes.Current().Names()
	for i := range members {
		members[i].ShortName = names[members[i].Node]
	}
}

// clusterRemove removes members for good.
func (d *daemon) clusterRemove(ctx context.Context, c *server.Caller, p api.ClusterRemoveParams) (api.ClusterRemoveResult, error) {
	var ids []api.NodeID
	for _, ref := range p.Nodes {
		id, err := d.find(ref)
		if err != nil {
			return api.ClusterRemoveResult{}, err
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return api.ClusterRemoveResult{}, invalid("nodes", "no node is named")
	}
	if !p.DryRun {
		d.logs.Part("cluster").Info("asked to remove", "uid", c.UID, "nodes", ids)
	}
	return d.node.Remove(ctx, ids, p.DryRun)
}
