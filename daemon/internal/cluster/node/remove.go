package node

import (
	"context"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/replica"
	"fulmen/daemon/internal/peer"
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
	result.Removed = nodes
	if dryRun {
		return result, nil
	}
	n.joining.Lock()
	defer n.joining.Unlock()
	next, err := n.options.Roster.Current().Remove(n.options.Identity, n.options.Platform.Clock.Now(), nodes...)
	if err != nil {
		return result, err
	}
	// The connections for the last word are opened before, and used after: from
	// the moment of the removal nothing that a removed node says counts here.
	notify, cancel := n.lastWords(ctx, slices.DeleteFunc(slices.Clone(nodes), func(node api.NodeID) bool { return node == n.self }))
	defer cancel()
	// Whoever hears first says so to this node too, which then ends: not before all
	// have heard.
	n.leaving.Store(slices.Contains(nodes, n.self))
	if _, err := n.options.Roster.Update(func(r *cluster.Roster) (*cluster.Roster, error) {
		merged, _, err := r.Merge(next.Log())
		return merged, err
	}); err != nil {
		n.leaving.Store(false)
		return result, err
	}
	n.log.Info("removed", "nodes", nodes)
	n.replica.RosterChanged()
	entries, _ := replica.EncodeEntries(next.Log())
	roster := api.PeerRosterParams{Entries: entries}
	notify(roster)
	if slices.Contains(nodes, n.self) {
		n.notifyAll(ctx, roster)
		n.leaving.Store(false)
		n.removed(n.self)
	}
	return result, nil
}

// lastWords opens a connection to each node that is about to be removed and is
// reached, and gives what tells them the roster by which they are. Others find
// out by being refused.
func (n *Node) lastWords(ctx context.Context, nodes []api.NodeID) (notify func(api.PeerRosterParams), cancel func()) {
	ctx, cancel = n.within(ctx, notifyWithin, "the nodes to hear of their removal")
	calls := make([]func(method string, params any) error, len(nodes))
	var opening sync.WaitGroup
	for i, node := range nodes {
		opening.Go(func() {
			var err error
			if calls[i], err = n.transport.LastWord(ctx, node); err != nil {
				n.log.Info("a node will not be told of its removal", "node", node, "error", err)
			}
		})
	}
	opening.Wait()
	return func(roster api.PeerRosterParams) {
		var reporting sync.WaitGroup
		for _, call := range calls {
			if call != nil {
				reporting.Go(func() { n.log.Debug("told a node of its removal", "error", call(rosterMethod, roster)) })
			}
		}
		reporting.Wait()
	}, cancel
}

// rosterMethod is the call by which a roster is given.
const rosterMethod = "peer.roster"

// notifyAll lets the members that are reached hear that this node leaves.
func (n *Node) notifyAll(ctx context.Context, roster api.PeerRosterParams) {
	ctx, cancel := n.within(ctx, notifyWithin, "the nodes to hear of the removal")
	defer cancel()
	var reporting sync.WaitGroup
	for _, node := range n.inReach() {
		reporting.Go(func() {
			// Again: a path may just have changed, and nobody tells it later.
			if err := peer.Again(ctx, n.options.Platform.Clock, notifyAgain, peer.IsUnreached, func() error {
				return n.transport.Call(ctx, node, rosterMethod, roster, nil)
			}); err != nil {
				n.log.Info("a node was not told of a removal", "node", node, "error", err)
			}
		})
	}
	reporting.Wait()
}
