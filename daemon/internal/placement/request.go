package placement

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sort"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// specRemedies are single changes of the spec that would give the job a place.
func (s *state) specRemedies() []remedy {
	var out []remedy
	add := func(reason api.Reason, subject, format string, args ...any) {
		out = append(out, remedy{api.Cause{Reason: reason, Subject: subject, Message: fmt.Sprintf(format, args...)}, bySpec})
	}
	p := s.in.Spec.Placement
	for _, network := range s.untrusted() {
		if s.would(func(spec *api.JobSpec) {
			spec.Placement.Networks = append(slices.Clone(p.Networks), network.prefix.String())
		}) {
			add(api.ReasonNetworkNotTrusted, "networks", "Allow unencrypted traffic over %s (%s) with --network %s.", network.prefix, network.kind, network.prefix)
		}
	}
	for _, backend := range []api.Backend{api.BackendJACCL, api.BackendJACCLRing, api.BackendRing} {
		if s.demand.backend != api.BackendAuto && backend != s.demand.backend && s.would(func(spec *api.JobSpec) { spec.Placement.Backend = backend }) {
			add(api.ReasonNoBackend, "backend", "Use --backend %s.", backend)
		}
	}
	if len(s.versions(s.all())) > 1 && s.would(func(spec *api.JobSpec) { spec.AllowMixed = true }) {
		add(api.ReasonMLXVersionsDiffer, "allow_mixed", "Install the same version of MLX everywhere, or pass --allow-mixed (allow_mixed in a file).")
	}
	if s.in.model.counted {
		for _, c := range s.modelRemedies() {
			out = append(out, remedy{c, bySpec})
		}
		return out
	}
	if least := s.lessMemory(); least > 0 {
		add(api.ReasonNotEnoughMemory, "memory_bytes", "Ask for at most %s a rank.", gibibytes(least))
	}
	if whole := s.demand.whole; whole > 0 {
		least := sort.Search(int(whole>>30), func(n int) bool {
			return !s.would(func(spec *api.JobSpec) { spec.Placement.MemoryBytes = int64(n+1) << 30 })
		})
		if least > 0 {
			add(api.ReasonNotEnoughMemory, "memory_bytes", "Ask for at most %d GiB for all ranks.", least)
		}
		for n := s.demand.least + 1; n <= len(s.nodes); n++ {
			ranks := n * s.demand.perNode
			if s.would(func(spec *api.JobSpec) {
				spec.Placement.Ranks, spec.Placement.MinNodes, spec.Placement.MaxNodes = ranks, 0, 0
			}) {
				add(api.ReasonNotEnoughMemory, "ranks", "Ask for %s, which have the memory together.", counted(ranks, "rank"))
				break
			}
		}
	}
	fewest := 2
	if s.demand.perNode > 1 {
		fewest = 1
	}
	for n := s.demand.least - 1; n >= max(fewest, len(s.required)); n-- {
		ranks := n * s.demand.perNode
		if s.would(func(spec *api.JobSpec) { spec.Placement.Ranks, spec.Placement.MinNodes = ranks, 0 }) {
			add(api.ReasonNotEnoughNodes, "ranks", "Ask for %s.", counted(ranks, "rank"))
			break
		}
	}
	if n := s.beside(); n > 0 {
		add(api.ReasonNotEnoughNodes, "ranks_per_node", "Run %s a node, on %s, with --ranks-per-node %d.", counted(n, "rank"), counted(s.in.Spec.Placement.Ranks/n, "node"), n)
	}
	return out
}

// beside is how many ranks a node would have to run for as many as are asked for to find a
// place, where there are too few nodes for one each; 0 where several do not help.
func (s *state) beside() int {
	ranks := s.in.Spec.Placement.Ranks
	if s.demand.perNode > 1 || s.demand.backend.RDMA() || ranks <= len(s.nodes) {
		return 0
	}
	for n := 2; n <= min(ranks, api.MaxRanksPerNode); n++ {
		if ranks%n == 0 && ranks/n <= len(s.nodes) && s.would(func(spec *api.JobSpec) { spec.Placement.RanksPerNode = n }) {
			return n
		}
	}
	return 0
}

// would reports whether the job had a place with another spec.
func (s *state) would(change func(*api.JobSpec)) bool {
	in := *s.in
	change(&in.Spec)
	return in.hasPlace()
}

// hasPlace reports whether the job has a place.
func (in Input) hasPlace() bool {
	d, wrong := demandOf(&in.Spec)
	if wrong != nil {
		return false
	}
	s, missing := newState(&in, d)
	if missing != nil {
		return false
	}
	_, _, _, is := s.best()
	return is
}

// lessMemory is the most memory a rank for which there is a place; 0 where the
// amount is not the matter.
func (s *state) lessMemory() int64 {
	var rooms []int64
	for _, n := range s.nodes {
		room, _ := n.room()
		if room /= int64(s.demand.perNode); room > 0 && room < s.demand.memory {
			rooms = append(rooms, room)
		}
	}
	slices.Sort(rooms)
	for _, room := range slices.Backward(slices.Compact(rooms)) {
		if s.would(func(spec *api.JobSpec) { spec.Placement.MemoryBytes = room }) {
			return room
		}
	}
	return 0
}

// all are the places of all nodes.
func (s *state) all() []int {
	out := make([]int, len(s.nodes))
	for i := range out {
		out[i] = i
	}
	return out
}

// network is one that is not permitted.
type network struct {
	prefix netip.Prefix
	kind   api.LinkKind
}

// untrusted lists the networks over which nodes reach each other and which are
// not permitted.
func (s *state) untrusted() []network {
	var out []network
	for _, p := range slices.SortedFunc(maps.Keys(s.ways), pair.compare) {
		for _, w := range s.ways[p] {
			if s.permitted(w) {
				continue
			}
			for _, prefix := range w.prefixes {
				if prefix.IsValid() && !slices.ContainsFunc(out, func(n network) bool { return n.prefix == prefix }) {
					out = append(out, network{prefix, w.kind})
				}
			}
		}
	}
	over := func(n network) topology.Network {
		return topology.Network{Kind: n.kind, Addresses: [2]netip.Addr{n.prefix.Addr()}}
	}
	slices.SortFunc(out, func(a, b network) int { return cmp.Or(over(a).Compare(over(b)), a.prefix.Compare(b.prefix)) })
	return out[:min(len(out), MaxRemedies)]
}

// prefixOf is the network of one of the node's addresses; not valid where it does not tell.
func (n *Node) prefixOf(address netip.Addr) netip.Prefix {
	for _, i := range n.interfaces() {
		for _, a := range i.Addresses {
			if a.Address.Addr() == address {
				return a.Address.Masked()
			}
		}
	}
	return netip.Prefix{}
}
