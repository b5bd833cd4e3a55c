package model

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// othersWithin is how long other Macs may take to list their models: whoever looks waits
	// for the slowest.
	othersWithin = 10 * time.Second
	// maxCluster is how much of the list fits into a message of the API.
	maxCluster = api.MaxMessageBytes - 64<<10
)

// Cluster is which of the nodes, among them this one, has which models that a caller may
// read. A node that lists none is there with its reason.
func (m *Models) Cluster(ctx context.Context, caller api.Principal, nodes []api.NodeID) api.ModelClusterResult {
	self := m.cfg.Peers.Self()
	nodes = append([]api.NodeID{self}, slices.DeleteFunc(slices.Sorted(slices.Values(nodes)), func(n api.NodeID) bool { return n == self })...)
	lists := make([]api.ModelListResult, len(nodes))
	result := api.ModelClusterResult{Models: []api.ModelOnNodes{}, Nodes: make([]api.ModelNodeAnswer, len(nodes))}
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
func merged(nodes []api.NodeID, lists []api.ModelListResult) (models []api.ModelOnNodes, leftOut int) {
	type name struct{ model, revision string }
	at := map[name]int{}
	models = []api.ModelOnNodes{}
	for i, list := range lists {
		leftOut += list.LeftOut
		for _, found := range list.Models {
			on := api.ModelOnNode{Node: nodes[i], Complete: found.Complete, MissingCount: found.MissingCount}
			k, isKnown := at[name{found.Model, found.Revision}]
			if !isKnown {
				at[name{found.Model, found.Revision}] = len(models)
				models = append(models, api.ModelOnNodes{Model: found, On: []api.ModelOnNode{on}})
				continue
			}
			one := &models[k]
			if isComplete(on) && !isComplete(one.On[0]) {
				one.Model, one.On = found, append([]api.ModelOnNode{on}, one.On...)
			} else {
				one.On = append(one.On, on)
			}
		}
	}
	for i := range models {
		slices.SortStableFunc(models[i].On, func(a, b api.ModelOnNode) int {
			return cmp.Compare(choose(isComplete(a)), choose(isComplete(b)))
		})
	}
	slices.SortFunc(models, func(a, b api.ModelOnNodes) int {
		return cmp.Or(cmp.Compare(a.Model.Model, b.Model.Model), cmp.Compare(a.Model.Revision, b.Model.Revision))
	})
	size, kept := 0, models[:0]
	for _, one := range models {
		data, err := json.Marshal(one)
		if size += len(data) + 1; err != nil || size > maxCluster {
			leftOut++
			continue
		}
		kept = append(kept, one)
	}
	return kept, leftOut
}

func isComplete(on api.ModelOnNode) bool { return on.Complete != nil && *on.Complete }

// choose orders what is complete first.
func choose(first bool) int {
	if first {
		return 0
	}
	return 1
}
