package model

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/model/inventory"
	"fulmen/native"
)

// othersWithin is how long other Macs may take to list their models: whoever looks waits for
// the slowest.
const othersWithin = 10 * time.Second

// Cluster is which of the nodes, among them this one, has which models that a caller may
// read. A node that lists none is there with its reason.
func (m *Models) Cluster(ctx context.Context, caller api.Principal, nodes []api.NodeID) api.ModelClusterResult {
	self := m.cfg.Peers.Self()
	nodes = append([]api.NodeID{self}, slices.DeleteFunc(slices.Sorted(slices.Values(nodes)), func(n api.NodeID) bool { return n == self })...)
	lists := make([]api.ModelListResult, len(nodes))
	result := api.ModelClusterResult{Nodes: make([]api.ModelNodeAnswer, len(nodes))}
	ctx, cancel := native.WithTimeout(ctx, m.cfg.Clock, othersWithin, "the models of other Macs")
	defer cancel()
	var all sync.WaitGroup
	for i, node := range nodes {
		all.Go(func() {
			var err error
			if node == self {
				lists[i], err = m.List(ctx, caller)
			} else {
				lists[i], err = m.Shared(ctx, caller, node)
			}
			result.Nodes[i] = api.ModelNodeAnswer{Node: node, Account: lists[i].Account}
			if err != nil {
				lists[i], result.Nodes[i].Error = api.ModelListResult{}, api.AsError(err)
			}
		})
	}
	all.Wait()
	result.Models, result.LeftOut = merged(nodes, lists)
	return result
}

// merged makes one of what is the same model on several nodes, as far as a message has room.
// Where it is complete comes first.
func merged(nodes []api.NodeID, lists []api.ModelListResult) (models []api.ModelOnNodes, leftOut int) {
	type name struct{ model, revision string }
	at := map[name]int{}
	for _, isComplete := range []bool{true, false} {
		for i, list := range lists {
			for _, found := range list.Models {
				if isComplete != (found.Complete != nil && *found.Complete) {
					continue
				}
				key := name{found.Model, found.Revision}
				k, isKnown := at[key]
				if !isKnown {
					k = len(models)
					at[key], models = k, append(models, api.ModelOnNodes{Model: found})
				}
				models[k].On = append(models[k].On, api.ModelOnNode{Node: nodes[i], Complete: found.Complete, MissingCount: found.MissingCount})
			}
		}
	}
	slices.SortFunc(models, func(a, b api.ModelOnNodes) int {
		return cmp.Or(cmp.Compare(a.Model.Model, b.Model.Model), cmp.Compare(a.Model.Revision, b.Model.Revision))
	})
	for _, list := range lists {
		leftOut += list.LeftOut
	}
	size, kept := 0, []api.ModelOnNodes{}
	for _, one := range models {
		if size += inventory.EncodedSize(one); size > inventory.MaxAnswer {
			leftOut++
			continue
		}
		kept = append(kept, one)
	}
	return kept, leftOut
}
