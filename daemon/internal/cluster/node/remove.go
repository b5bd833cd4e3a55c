package node

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
)

// Remove removes members for good. A dry run says whom they had added.
func (n *Node) Remove(ctx context.Context, nodes []api.NodeID, dryRun bool) (api.ClusterRemoveResult, error) {
	r := n.options.Roster.Current()
	var result api.ClusterRemoveResult
	for _, node := range nodes {
		if !r.IsMember(node) {
			return result, api.NewError(api.ReasonNotAMember, node.Display())
		}
		for _, invited := range r.InvitedBy(node) {
			if !slices.Contains(nodes, invited) && !slices.Contains(result.Invited, invited) {
				result.Invited = append(result.Invited, invited)
			}
		}
	}
	if dryRun {
		return result, nil
	}
	n.joining.Lock()
	defer n.joining.Unlock()
	next, err := n.options.Roster.Current().Remove(n.options.Identity, n.options.Platform.Clock.Now(), nodes...)
	if err != nil {
		return result, err
	}
	n.tellRemoved(ctx, nodes, next)
	if _, err := n.options.Roster.Update(func(r *cluster.Roster) (*cluster.Roster, error) {
		merged, _, err := r.Merge(next.Log())
		return merged, err
	}); err != nil {
		return result, err
	}
	n.log.Info("removed", "nodes", nodes)
	n.replica.RosterChanged()
	result.Removed = nodes
	if slices.Contains(nodes, n.self) {
		n.tellAll(ctx, next)
		n.removed(n.self)
	}
	return result, nil
}

// tellRemoved lets the removed nodes hear of it while they still have a
// connection; they find out by being refused otherwise.
func (n *Node) tellRemoved(ctx context.Context, nodes []api.NodeID, next *cluster.Roster) {
	n.send(ctx, slices.DeleteFunc(slices.Clone(nodes), func(node api.NodeID) bool { return node == n.self }), next)
}

// tellAll lets the members that are reached hear that this node leaves.
func (n *Node) tellAll(ctx context.Context, next *cluster.Roster) { n.send(ctx, next.Current(), next) }

// send gives nodes a roster, for a moment.
func (n *Node) send(ctx context.Context, nodes []api.NodeID, next *cluster.Roster) {
	ctx, cancel := n.within(ctx, tellWithin, "the nodes to hear of the removal")
	defer cancel()
	var entries []json.RawMessage
	for _, entry := range next.Log() {
		raw, err := json.Marshal(entry)
		if err != nil {
			n.log.Error("the roster could not be encoded", "error", err)
			return
		}
		entries = append(entries, raw)
	}
	var telling sync.WaitGroup
	for _, node := range nodes {
		if !n.transport.Reachable(node) {
			continue
		}
		telling.Go(func() {
			if err := n.transport.Call(ctx, node, "peer.roster", api.PeerRosterParams{Entries: entries}, nil); err != nil {
				n.log.Info("a node was not told of a removal", "node", node, "error", err)
			}
		})
	}
	telling.Wait()
}
