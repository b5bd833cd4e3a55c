package placement

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// demand is what a spec wants, without contradictions.
type demand struct {
	backend api.Backend
	// least and most are how many nodes will do.
	least, most int
	// perNode is how many ranks each runs.
	perNode int
	// required must be used; rank 0's node is one of them.
	required []api.NodeID
	excluded []api.NodeID
	rank0    api.NodeID
	// memory is what each rank needs, or whole what all do, where they have shares.
	memory, whole int64
	gpu           api.GPUShare
}

// demandOf reads a spec. The cause says what is wrong with it.
func demandOf(spec *api.JobSpec) (demand, *api.Cause) {
	p := &spec.Placement
	d := demand{
		backend: cmp.Or(p.Backend, api.BackendAuto), rank0: p.Rank0, memory: p.MemoryBytes, perNode: p.PerNode(),
		gpu: cmp.Or(p.GPU, api.GPUExclusive), excluded: p.ExcludedNodes,
	}
	wrong := func(reason api.Reason, subject, format string, args ...any) (demand, *api.Cause) {
		return d, hindrance(reason, subject, format, args...)
	}
	if p.ShareBy != "" {
		d.memory, d.whole = 0, p.MemoryBytes
	}
	d.required = slices.Clone(p.Nodes)
	if p.Rank0 != "" {
		d.required = append(d.required, p.Rank0)
	}
	slices.Sort(d.required)
	d.required = slices.Compact(d.required)
	d.least, d.most = p.MinNodes, p.MaxNodes
	if p.Ranks > 0 {
		d.least, d.most = p.Ranks/d.perNode, p.Ranks/d.perNode
	}
	switch {
	case !d.backend.Valid():
		return wrong(api.ReasonBadValue, "backend", "%q is not a backend", string(d.backend))
	case !d.gpu.Valid():
		return wrong(api.ReasonBadValue, "gpu", "%q is not a way to get the GPU", string(d.gpu))
	case p.ShareBy != "" && !p.ShareBy.Valid():
		return wrong(api.ReasonBadValue, "per_node", "%q is not what shares can be by", string(p.ShareBy))
	case p.Ranks < 0 || p.MinNodes < 0 || p.MaxNodes < 0 || p.MemoryBytes < 0:
		return wrong(api.ReasonBadValue, "placement", "the number of ranks, of nodes and of bytes cannot be negative")
	case p.Ranks > api.MaxRank:
		return wrong(api.ReasonBadValue, "ranks", "a job has at most %d ranks", api.MaxRank)
	case p.RanksPerNode < 0 || p.RanksPerNode > api.MaxRanksPerNode:
		return wrong(api.ReasonBadValue, "ranks_per_node", "a node runs 1 to %d ranks of a job, not %d", api.MaxRanksPerNode, p.RanksPerNode)
	case p.Ranks%d.perNode != 0:
		return wrong(api.ReasonSpecConflict, "ranks", "%s cannot be divided into %d a node", counted(p.Ranks, "rank"), d.perNode)
	case d.perNode > 1 && d.backend.RDMA():
		return wrong(api.ReasonSpecConflict, "ranks_per_node", "%s does not join %d ranks a node: %s", d.backend, d.perNode, oneEach)
	case p.Ranks > 0 && (p.MinNodes > d.most || p.MaxNodes > 0 && p.MaxNodes < d.most):
		return wrong(api.ReasonSpecConflict, "ranks", "%s, %s a node, do not fit the number of nodes that is asked for", counted(p.Ranks, "rank"), each(d.perNode))
	case d.most > 0 && d.least > d.most:
		return wrong(api.ReasonSpecConflict, "min_nodes", "at least %d and at most %d nodes is not possible", d.least, d.most)
	case d.most > 0 && len(d.required) > d.most:
		return wrong(api.ReasonSpecConflict, "nodes", "%s must be used, but at most %d are wanted", counted(len(d.required), "node"), d.most)
	}
	for _, id := range d.required {
		if slices.Contains(d.excluded, id) {
			return wrong(api.ReasonSpecConflict, string(id), "%s is both required and excluded", id.Display())
		}
	}
	d.least = max(d.least, len(d.required), 1)
	if d.perNode > 1 {
		d.backend = api.BackendRing // auto has no other left
	}
	if d.backend == api.BackendJACCL && d.least > api.MaxMeshRanks {
		return wrong(api.ReasonTooManyRanks, "ranks", "jaccl joins at most %d ranks, not %d", api.MaxMeshRanks, d.least)
	}
	return d, nil
}

// CountsMemory reports whether a plan for a spec among these members can depend on the
// memory that they have free now: where it asks for memory or shares, or where there are more
// nodes to choose from than it has ranks. Who runs on all there are, or on nodes that it
// names, gets the same plan without it.
func CountsMemory(p api.Placement, members []api.NodeID) bool {
	if p.MemoryBytes > 0 || p.ShareBy != "" || p.Ranks == 0 {
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
	free := p.Ranks/p.PerNode() - len(named) // nodes that may be any
	return free > 0 && free < others
}

// state is the input in an order of its own, with what is looked up in it.
type state struct {
	in     *Input
	demand demand
	// nodes are those that are not excluded, ordered by id; they are named by their place in it.
	nodes    []*Node
	index    map[api.NodeID]int
	required []int
	// stops are what keeps a node from taking part with any backend.
	stops []*api.Cause
	// cables and ways are what joins each pair, by pair.
	cables map[pair][]cable
	ways   map[pair][]*way
	// permits are the networks that may carry unencrypted traffic.
	permits topology.Permitted
	// sockets are the ways that can be used, as asked for first.
	sockets map[socketKey][]channel
	// led is to how many nodes each device leads.
	led map[device]int
	// dialled are, for each node, those that reach it by any live path.
	dialled []map[int]bool
}

// pair is two nodes by their places, the lower first.
type pair struct{ a, b int }

// compare orders pairs by their lower node, then by the other.
func (p pair) compare(o pair) int { return cmp.Or(cmp.Compare(p.a, o.a), cmp.Compare(p.b, o.b)) }

func pairOf(a, b int) pair { return pair{min(a, b), max(a, b)} }

// newState indexes the input. The cause says which node that is needed is not a
// member.
func newState(in *Input, d demand) (*state, *api.Cause) {
	s := &state{in: in, demand: d, index: map[api.NodeID]int{}, permits: topology.Permit(in.Spec.Placement.Networks, in.Trusted)}
	count := map[api.NodeID]int{}
	for i := range in.Nodes {
		count[in.Nodes[i].ID]++
	}
	for i := range in.Nodes {
		if n := &in.Nodes[i]; count[n.ID] == 1 && !slices.Contains(d.excluded, n.ID) {
			s.nodes = append(s.nodes, n)
		}
	}
	slices.SortFunc(s.nodes, func(a, b *Node) int { return cmp.Compare(a.ID, b.ID) })
	for i, n := range s.nodes {
		s.index[n.ID] = i
		s.stops = append(s.stops, s.stop(n))
		s.dialled = append(s.dialled, map[int]bool{})
	}
	for _, id := range d.required {
		i, is := s.index[id]
		if !is {
			return s, hindrance(api.ReasonNoSuchNode, string(id), "%s must be used, but no such member is known", id.Display())
		}
		s.required = append(s.required, i)
	}
	s.indexCables()
	s.indexPaths()
	return s, nil
}

// stop is the first thing that keeps a node from taking part; nil where nothing
// does.
func (s *state) stop(n *Node) *api.Cause {
	is := func(reason api.Reason, format string, args ...any) *api.Cause {
		return hindrance(reason, string(n.ID), "%s "+format, append([]any{n.name()}, args...)...)
	}
	switch n.State {
	case api.SelfAsleep:
		if n.StateReason == api.ReasonLidClosed {
			return is(api.ReasonLidClosed, "is asleep: its lid is closed")
		}
		return is(api.ReasonAsleep, "is asleep")
	case api.SelfStopping:
		return is(api.ReasonShuttingDown, "is ending its daemon")
	case api.SelfRestarting:
		return is(api.ReasonRestarting, "restarts")
	case api.SelfLeft:
		return is(api.ReasonLeft, "has left the cluster")
	}
	if !n.Reached {
		return is(api.ReasonNodeUnreachable, "does not answer")
	}
	switch n.Refusal {
	case "":
	case api.ReasonPrincipalUnmapped:
		return is(n.Refusal, "has no account chosen for jobs of %s", s.in.Spec.Principal)
	case api.ReasonOnBattery:
		return is(n.Refusal, "accepts jobs on power only, and runs on battery")
	case api.ReasonNotIdle:
		return is(n.Refusal, "accepts jobs only when nobody uses it")
	default:
		return is(n.Refusal, "does not accept jobs of %s", s.in.Spec.Principal)
	}
	if c := s.stopByModel(n); c != nil {
		return c
	}
	if c := cmp.Or(s.stopByMemory(n, s.demand.memory), s.stopByShare(n)); c != nil {
		return c
	}
	for _, l := range n.Lent {
		isTaken := l.GPU == api.GPUExclusive && s.demand.gpu != api.GPUNone || s.demand.gpu == api.GPUExclusive && l.GPU == api.GPUShared
		if isTaken && l.Waits {
			return is(api.ReasonWaitingInLine, "is to lend its GPU to job %s, which goes first", l.Job)
		} else if isTaken {
			return is(api.ReasonGPUBusy, "lends its GPU to job %s", l.Job)
		}
	}
	return nil
}

// stopByMemory is what keeps a node from granting each of its ranks so much memory.
func (s *state) stopByMemory(n *Node, wanted int64) *api.Cause {
	if wanted == 0 {
		return nil
	}
	room, reachable := n.room()
	switch {
	case !reachable:
		return hindrance(api.ReasonNotEnoughMemory, string(n.ID), "%s does not report how much memory its GPU can use", n.name())
	case room/int64(s.demand.perNode) < wanted:
		of, left, need := "GPU memory", "", "a rank needs "+gibibytes(wanted)
		switch n.GPUMemory {
		case api.GPUMemoryUnified:
			of = n.GPUMemory.Noun() + " for its GPU"
		case api.GPUMemoryNone:
			of = n.GPUMemory.Noun()
		}
		if room < *n.WorkingSetBytes {
			left = " left to lend"
		}
		if s.demand.perNode > 1 {
			need = counted(s.demand.perNode, "rank") + " need " + gibibytes(wanted) + " each"
		}
		return hindrance(api.ReasonNotEnoughMemory, string(n.ID), "%s has %s of %s%s, and %s", n.name(), gibibytes(room), of, left, need)
	}
	return nil
}
