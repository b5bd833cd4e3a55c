package placement

import (
	"cmp"
	"fmt"
	"slices"

	"fulmen/daemon/api"
)

// remedy is one change, and what it takes.
type remedy struct {
	api.Cause
	effort effort
}

// effort orders remedies: the least first.
type effort int

const (
	byFulmen effort = iota // a change that Fulmen makes itself
	bySpec                 // another request
	byWaiting
	byPerson // somebody at a Mac
	byCable
)

// effortOf is what it takes to remove a cause.
func effortOf(reason api.Reason) effort {
	switch reason {
	case api.ReasonRDMANoIPv4GID, api.ReasonInBridge, api.ReasonBridgeLoop:
		return byFulmen
	case api.ReasonGPUBusy, api.ReasonRDMADeviceBusy, api.ReasonShuttingDown, api.ReasonRestarting, api.ReasonNotIdle:
		return byWaiting
	case api.ReasonLinkTooSlow, api.ReasonHubBetween, api.ReasonNotConnected, api.ReasonLinkDown, api.ReasonLinkGone, api.ReasonRDMAPortDown:
		return byCable
	}
	return byPerson
}

// remedies lists single changes that would each give the job a place.
func (s *state) remedies(failed []tier) []api.Cause {
	var all []remedy
	for _, t := range failed {
		all = append(all, s.joinRemedies(t)...)
		all = append(all, s.nodeRemedies(t)...)
	}
	all = append(all, s.specRemedies()...)
	slices.SortStableFunc(all, func(a, b remedy) int { return cmp.Compare(a.effort, b.effort) })
	var out []api.Cause
	for _, r := range all {
		if !slices.ContainsFunc(out, func(c api.Cause) bool { return c.Message == r.Message }) && len(out) < MaxRemedies {
			out = append(out, r.Cause)
		}
	}
	return out
}

// joinRemedies are the pairs whose joining alone would do.
func (s *state) joinRemedies(t tier) []remedy {
	m, _ := s.newMisses(t)
	if m == nil {
		return nil
	}
	pairs := map[pair]struct{}{}
	for x := range m.sets() {
		if !m.able.holds(x) || m.lacks(x) != 1 || len(m.versions(m.places(x))) > 1 || !m.field.enough(x) {
			continue
		}
		for _, p := range m.closers(x) {
			pairs[p] = struct{}{}
		}
		if len(pairs) >= 4*MaxRemedies {
			break
		}
	}
	var out []remedy
	for p := range pairs {
		c := s.apart(pairOf(m.field.nodes[p.a], m.field.nodes[p.b]), t)
		a, b := s.nodes[m.field.nodes[p.a]], s.nodes[m.field.nodes[p.b]]
		switch {
		case c.Reason == api.ReasonNotThunderbolt5, c.Reason == api.ReasonNetworkNotTrusted:
			continue // that takes another Mac, or another spec
		case c.Reason == api.ReasonNotConnected && t.backend.RDMA() && (isFalse(a.RDMAOn) || isFalse(b.RDMAOn)):
			continue // a cable alone would not do
		}
		out = append(out, remedy{s.advice(c, pairOf(m.field.nodes[p.a], m.field.nodes[p.b]), t), effortOf(c.Reason)})
	}
	slices.SortFunc(out, func(a, b remedy) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Message, b.Message))
	})
	return out
}

func isFalse(b *bool) bool { return b != nil && !*b }

// closers are the pairs of a set that lacks one connection, each of which would do.
func (m *misses) closers(x set) []pair {
	var out []pair
	members := x.members()
	for k, a := range members {
		var ends set
		if m.tier.shape == api.ShapeRing {
			small, place := compressed(x, m.adjacent)
			ends = set(pathsFrom(place[a], small).ends[1<<len(small)-1])
		}
		for j, b := range members[k+1:] {
			if m.adjacent[a].has(b) {
				continue
			}
			if m.tier.shape == api.ShapeMesh || len(members) == 2 || ends.has(k+1+j) {
				out = append(out, pair{a, b})
			}
		}
	}
	return out
}

// advice is a cause as something to do.
func (s *state) advice(c api.Cause, p pair, t tier) api.Cause {
	a, b := s.nodes[p.a], s.nodes[p.b]
	switch {
	case c.Reason == api.ReasonNotConnected && t.backend.RDMA():
		c.Message = fmt.Sprintf("Join %s and %s with a Thunderbolt 5 cable.", a.name(), b.name())
	case c.Reason == api.ReasonNoPath && !t.backend.RDMA():
		c.Message = fmt.Sprintf("Join %s and %s with a Thunderbolt cable, or find out why they do not reach each other over the one there is (fulmen links).", a.name(), b.name())
	case c.Remedy != "":
		c.Message += ". " + c.Remedy
	}
	return c
}

// nodeRemedies are the nodes that would do if only what stops them first were
// gone.
func (s *state) nodeRemedies(t tier) []remedy {
	var out []remedy
	for i := range s.nodes {
		c := s.stopIn(i, t)
		if c == nil || c.Reason == api.ReasonNotEnoughMemory || !s.suffices(i, c.Reason, t) { // less memory is a change of the spec
			continue
		}
		cause := *c
		if cause.Remedy != "" {
			cause.Message += ". " + cause.Remedy
		}
		out = append(out, remedy{cause, effortOf(c.Reason)})
	}
	return out
}

// suffices reports whether there is a place once a node is not stopped by one
// reason any more.
func (s *state) suffices(i int, reason api.Reason, t tier) bool {
	other := *s
	other.nodes, other.stops = slices.Clone(s.nodes), slices.Clone(s.stops)
	n := s.nodes[i].without(reason)
	if c := s.stopByModel(&n); c != nil && c.Reason == reason && s.in.model.holder != nil {
		n = n.withModel(s.in.model)
	}
	other.nodes[i], other.stops[i] = &n, other.stop(&n)
	if s.demand.least == 1 {
		_, is := other.single(t)
		return is
	}
	_, is, _ := other.search(t, other.eligible(t))
	return is
}

// without is the node without what a reason tells of.
func (n *Node) without(reason api.Reason) Node {
	free := *n
	switch reason {
	case api.ReasonAsleep, api.ReasonLidClosed, api.ReasonShuttingDown, api.ReasonRestarting:
		free.State, free.Reached = api.SelfAwake, true
	case api.ReasonNodeUnreachable:
		free.Reached = true
	case api.ReasonGPUBusy, api.ReasonWaitingInLine:
		free.Lent = slices.Clone(n.Lent)
		for i := range free.Lent {
			free.Lent[i].GPU = api.GPUNone
		}
	case api.ReasonMemoryPressure:
		free.Pressure = ""
	case api.ReasonBackendUnsupported, api.ReasonJACCLMissing:
		free.MLX.Backends = nil
	case api.ReasonProgramMLXMissing:
		free.MLX.Missing = false
	case api.ReasonMLXTooOld:
		free.MLX.Version = ""
	case n.Refusal:
		free.Refusal = ""
	}
	return free
}
