package topology

import (
	"fulmen/daemon/api"
)

// ranksOf finds the nodes of an export in the order of their ranks; none given
// means all, ordered by id.
func (g Graph) ranksOf(ids []api.NodeID) ([]*node, error) {
	ranks := g.index.nodes
	if len(ids) > 0 {
		ranks = nil
		seen := map[api.NodeID]bool{}
		for _, id := range ids {
			n := g.index.byID[id]
			switch {
			case n == nil:
				return nil, api.NewError(api.ReasonNoSuchNode, id.Display())
			case seen[id]:
				return nil, api.Errorf(api.ReasonBadValue, id.Display(), "%s is named twice", n.displayName())
			}
			seen[id] = true
			ranks = append(ranks, n)
		}
	}
	if len(ranks) < 2 {
		return nil, api.Errorf(api.ReasonBadValue, "nodes", "%d nodes are no group: name two or more", len(ranks))
	}
	return ranks, nil
}

// pairSubject names a pair of nodes in a cause.
func pairSubject(a, b *node) string { return string(a.ID) + "~" + string(b.ID) }

// refusal is the error of an export that cannot be: it names every fault.
func refusal(reason api.Reason, causes []api.Cause, format string, args ...any) error {
	err := api.Errorf(reason, "", format, args...)
	err.Data.Causes = causes
	return err
}
