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

// Of are the conditions that are wanted, with the headline of all.
func (s Shown) Of(isWanted func(api.NodeCondition) bool) api.NodeConditionsResult {
	seen := s.seen(s.Graph.CablesNow())
	all, view := health.Derived(seen), s.Nodes.Current()
	for _, record := range s.Ledger.List(ledger.Filter{Kinds: []api.Kind{api.KindIdentity}}) {
		identity, err := ledger.Shared[api.Identity](record)
		_, is := view.Node(record.Key().Node)
		seen.NotMacs = seen.NotMacs || err == nil && is && identity.Platform != api.PlatformDarwin
	}
	headline := seen.Headline(all) // before all is cut down
	return api.NodeConditionsResult{Headline: headline, Conditions: slices.DeleteFunc(all, func(c api.NodeCondition) bool { return !isWanted(c) })}
}

// with are all of them, where these are the cables.
func (s Shown) with(cables []api.Cable) []api.NodeCondition { return health.Derived(s.seen(cables)) }

// seen is what they are derived of.
func (s Shown) seen(cables []api.Cable) health.Seen {
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
	return seen
}
