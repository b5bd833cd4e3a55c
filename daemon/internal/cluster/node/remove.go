package node

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/transport"
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
	tell := n.lastWords(ctx, slices.DeleteFunc(slices.Clone(nodes), func(node api.NodeID) bool { return node == n.self }))
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
	tell(next)
	if slices.Contains(nodes, n.self) {
		n.tellAll(ctx, next)
		n.leaving.Store(false)
		n.removed(n.self)
	}
	return result, nil
}

// lastWords opens a connection to each node that is about to be removed and is
// reached, and gives what tells them the roster by which they are. Others find
// out by being refused.
func (n *Node) lastWords(ctx context.Context, nodes []api.NodeID) (tell func(*cluster.Roster)) {
	ctx, cancel := n.within(ctx, tellWithin, "the nodes to hear of their removal")
	var mu sync.Mutex
	var lines []*transport.LastWord
	var opening sync.WaitGroup
	for _, node := range nodes {
		opening.Go(func() {
			line, err := n.transport.OpenLastWord(ctx, node)
			if err != nil {
				n.log.Info("a node will not be told of its removal", "node", node, "error", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, line)
		})
	}
	opening.Wait()
	return func(next *cluster.Roster) {
		defer cancel()
		entries, err := encoded(next)
		var telling sync.WaitGroup
		for _, line := range lines {
			telling.Go(func() {
				defer line.Close()
				if err == nil {
					err := line.Call(ctx, "peer.roster", api.PeerRosterParams{Entries: entries})
					n.log.Debug("told a node of its removal", "error", err)
				}
			})
		}
		telling.Wait()
	}
}

// encoded is a roster's log as it is sent.
func encoded(r *cluster.Roster) ([]json.RawMessage, error) {
	var entries []json.RawMessage
	for _, entry := range r.Log() {
		raw, err := json.Marshal(entry)
		if err != nil {
			return nil, err
		}
		entries = append(entries, raw)
	}
	return entries, nil
}

// tellAll lets the members that are reached hear that this node leaves.
func (n *Node) tellAll(ctx context.Context, next *cluster.Roster) { n.send(ctx, next.Current(), next) }

// send gives nodes a roster, for a moment.
func (n *Node) send(ctx context.Context, nodes []api.NodeID, next *cluster.Roster) {
	ctx, cancel := n.within(ctx, tellWithin, "the nodes to hear of the removal")
	defer cancel()
	entries, err := encoded(next)
	if err != nil {
		n.log.Error("the roster could not be encoded", "error", err)
		return
	}
	var telling sync.WaitGroup
	for _, node := range nodes {
		if !n.transport.Reachable(node) {
			continue
		}
		telling.Go(func() {
			// Again: a path may just have changed, and nobody tells it later.
			if err := peer.Again(ctx, n.options.Platform.Clock, tellAgain, peer.IsUnreached, func() error {
				return n.transport.Call(ctx, node, "peer.roster", api.PeerRosterParams{Entries: entries}, nil)
			}); err != nil {
				n.log.Info("a node was not told of a removal", "node", node, "error", err)
			}
		})
	}
	telling.Wait()
}
