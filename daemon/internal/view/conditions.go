package view

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/health"
	"fulmen/daemon/internal/ledger"
)

// Shown are the conditions that hold in the cluster: what the nodes say, and what is
// derived of them.
type Shown struct {
	Ledger *ledger.Ledger
	Nodes  *Nodes
	Graph  *Graph
	// Own are this node's, also those that could not be published.
	Own func() []api.Condition
}

// Of are the conditions of some nodes.
func (s Shown) Of(isWanted func(api.NodeID) bool) []api.NodeCondition {
	return slices.DeleteFunc(s.with(s.Graph.CablesNow()), func(c api.NodeCondition) bool { return !isWanted(c.Node) })
}

// with are all of them, where these are the cables.
func (s Shown) with(cables []api.Cable) []api.NodeCondition {
	view := s.Nodes.Current()
	seen := health.Seen{Nodes: view.Nodes, Cables: cables}
	for _, condition := range s.Own() {
		seen.Reported = append(seen.Reported, api.NodeCondition{Node: s.Ledger.Node(), Condition: condition})
	}
	for _, record := range s.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindCondition}}) {
		id := record.Key().Node
		if id == s.Ledger.Node() || view.Stale(id) {
			continue
		}
		if condition, err := ledger.Shared[api.Condition](record); err == nil {
			seen.Reported = append(seen.Reported, api.NodeCondition{Node: id, Condition: condition})
		}
	}
	return health.Derived(seen)
}
