package placement

import (
	"slices"

	"fulmen/daemon/api"
)

// CountsMemory reports whether a plan for a spec among these members can depend on the
// memory that they have free now: where it asks for memory, or where there are more
// nodes to choose from than it has ranks. Who runs on all there are, or on nodes that it
// names, gets the same plan without it.
func CountsMemory(p api.Placement, members []api.NodeID) bool {
	if p.MemoryBytes > 0 || p.Ranks == 0 {
		return true
	}
	named, others := map[api.NodeID]bool{}, 0
	for _, id := range append(slices.Clone(p.Nodes), p.Rank0) {
		if id != "" {
			named[id] = true
		}
	}
	for _, id := range members {
		if !named[id] && !slices.Contains(p.ExcludedNodes, id) {
			others++
		}
	}
	free := p.Ranks - len(named) // ranks that may run anywhere
	return free > 0 && free < others
}
