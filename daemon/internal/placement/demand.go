package placement

import (
	"cmp"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// demand is what a spec wants, without contradictions.
type demand struct {
	backend api.Backend
	// least and most are how many nodes will do.
	least, most int
	// required must be used; rank 0's node is one of them.
	required []api.NodeID
	excluded []api.NodeID
	rank0    api.NodeID
	memory   int64
	gpu      api.GPUShare
	// interfaces and prefixes are the networks that the spec names.
	interfaces []string
	prefixes   []netip.Prefix
}

// demandOf reads a spec. The cause says what is wrong with it.
func demandOf(spec *api.JobSpec) (demand, *api.Cause) {
	p := &spec.Placement
	d := demand{
		backend: cmp.Or(p.Backend, api.BackendAuto), rank0: p.Rank0, memory: p.MemoryBytes,
		gpu: cmp.Or(p.GPU, api.GPUExclusive), excluded: p.ExcludedNodes,
	}
	wrong := func(reason api.Reason, subject, format string, args ...any) (demand, *api.Cause) {
		c := causeOf(reason, subject, format, args...)
		return d, &c
	}
	d.required = slices.Clone(p.Nodes)
	if p.Rank0 != "" {
		d.required = append(d.required, p.Rank0)
	}
	slices.Sort(d.required)
	d.required = slices.Compact(d.required)
	d.least, d.most = p.MinNodes, p.MaxNodes
	if p.Ranks > 0 {
		d.least, d.most = p.Ranks, p.Ranks
	}
	switch {
	case !d.backend.Valid():
		return wrong(api.ReasonBadValue, "backend", "%q is no backend", string(d.backend))
	case !d.gpu.Valid():
		return wrong(api.ReasonBadValue, "gpu", "%q is no way to get the GPU", string(d.gpu))
	case p.Ranks < 0 || p.MinNodes < 0 || p.MaxNodes < 0 || p.MemoryBytes < 0:
		return wrong(api.ReasonBadValue, "placement", "the number of ranks, of nodes and of bytes cannot be negative")
	case p.Ranks > api.MaxRank:
		return wrong(api.ReasonBadValue, "ranks", "a job has at most %d ranks", api.MaxRank)
	case p.Ranks > 0 && (p.MinNodes > p.Ranks || p.MaxNodes > 0 && p.MaxNodes < p.Ranks):
		return wrong(api.ReasonSpecConflict, "ranks", "%s, one a node, do not fit the number of nodes that is asked for", counted(p.Ranks, "rank"))
	case d.most > 0 && d.least > d.most:
		return wrong(api.ReasonSpecConflict, "min_nodes", "at least %d nodes and at most %d cannot be", d.least, d.most)
	case d.most > 0 && len(d.required) > d.most:
		return wrong(api.ReasonSpecConflict, "nodes", "%s must be used, but at most %d are wanted", counted(len(d.required), "node"), d.most)
	}
	for _, id := range d.required {
		if slices.Contains(d.excluded, id) {
			return wrong(api.ReasonSpecConflict, string(id), "%s is both required and excluded", id.Display())
		}
	}
	d.least = max(d.least, len(d.required), 1)
	if d.backend == api.BackendJACCL && d.least > api.MaxMeshRanks {
		return wrong(api.ReasonTooManyRanks, "ranks", "jaccl joins at most %d ranks, not %d", api.MaxMeshRanks, d.least)
	}
	for _, n := range p.Networks {
		if prefix, err := netip.ParsePrefix(n); err == nil {
			d.prefixes = append(d.prefixes, prefix.Masked())
		} else {
			d.interfaces = append(d.interfaces, n)
		}
	}
	return d, nil
}

// named reports whether the spec names the network of an address by one of
// these.
func (d *demand) named(address netip.Addr, interfaces ...string) bool {
	for _, i := range interfaces {
		if i != "" && slices.Contains(d.interfaces, i) {
			return true
		}
	}
	return contained(d.prefixes, address)
}

// contained reports whether an address belongs to one of the networks.
func contained(networks []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(address.Unmap().WithZone("")) })
}

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
