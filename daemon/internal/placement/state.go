package placement

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

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
	// led is to how many nodes each device leads.
	led map[device]int
	// dialled are, for each node, those that reach it by any live path.
	dialled []map[int]bool
}

// pair is two nodes by their places, the lower first.
type pair struct{ a, b int }

func pairOf(a, b int) pair { return pair{min(a, b), max(a, b)} }

// newState indexes the input. The cause says which node that is needed is not a
// member.
func newState(in *Input, d demand) (*state, *api.Cause) {
	s := &state{in: in, demand: d, index: map[api.NodeID]int{}}
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
			c := causeOf(api.ReasonNoSuchNode, string(id), "%s must be used, and no such member is known", id.Display())
			return s, &c
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
		c := causeOf(reason, string(n.ID), "%s "+format, append([]any{n.name()}, args...)...)
		return &c
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
		return is(n.Refusal, "does not say as which account jobs of %s run there", s.in.Spec.Principal)
	case api.ReasonOnBattery:
		return is(n.Refusal, "accepts jobs on power only, and runs on battery")
	case api.ReasonNotIdle:
		return is(n.Refusal, "accepts jobs only when nobody uses it")
	default:
		return is(n.Refusal, "does not accept jobs of %s", s.in.Spec.Principal)
	}
	if c := s.stopByMemory(n, s.demand.memory); c != nil {
		return c
	}
	for _, l := range n.Lent {
		if l.GPU == api.GPUExclusive && s.demand.gpu != api.GPUNone || s.demand.gpu == api.GPUExclusive && l.GPU == api.GPUShared {
			return is(api.ReasonGPUBusy, "lends its GPU to job %s", l.Job)
		}
	}
	return nil
}

// stopByMemory is what keeps a node from granting so much memory.
func (s *state) stopByMemory(n *Node, wanted int64) *api.Cause {
	if wanted == 0 {
		return nil
	}
	room, told := n.room()
	var c api.Cause
	switch {
	case !told:
		c = causeOf(api.ReasonNotEnoughMemory, string(n.ID), "%s does not tell its GPU's working set", n.name())
	case room < wanted && room < *n.WorkingSetBytes:
		c = causeOf(api.ReasonNotEnoughMemory, string(n.ID), "%s has %s of its GPU's working set left to lend, a rank needs %s", n.name(), gibibytes(room), gibibytes(wanted))
	case room < wanted:
		c = causeOf(api.ReasonNotEnoughMemory, string(n.ID), "%s has a GPU working set of %s, a rank needs %s", n.name(), gibibytes(room), gibibytes(wanted))
	default:
		return nil
	}
	return &c
}
