package topology

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// MaxLoops bounds how many loops a graph names. Every cable of a loop that is
// left out is still marked.
const MaxLoops = 64

// bridge is a node's software bridge: what joins its members' cables.
type bridge struct {
	node api.NodeID
	name string
}

func (b bridge) compare(o bridge) int {
	return cmp.Or(cmp.Compare(b.node, o.node), cmp.Compare(b.name, o.name))
}

// span is all bridged cables between two bridges.
type span struct {
	a, b   bridge
	cables []*cable
}

// markLoops finds the rings of bridged cables, in which frames would run round
// for ever, and marks the cables of every one: for each pair of bridges the
// shortest ring through it, parallel cables being the shortest of all.
func (g *Graph) markLoops() {
	spans := spansOf(g.cables)
	next := map[bridge][]*span{}
	for _, s := range spans {
		next[s.a] = append(next[s.a], s)
		if s.b != s.a {
			next[s.b] = append(next[s.b], s)
		}
	}
	for _, s := range spans {
		ring := ringThrough(s, next)
		if ring == nil {
			continue
		}
		for _, c := range s.cables {
			c.Verdict = api.VerdictBad
			c.addReason(api.ReasonBridgeLoop)
		}
		if loop := canonicalRing(ring); len(g.loops) < MaxLoops && !containsRing(g.loops, loop) {
			g.loops = append(g.loops, loop)
		}
	}
	slices.SortFunc(g.loops, func(a, b []api.NodeID) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b))
	})
}

// spansOf groups the cables that carry frames between bridges that are up.
func spansOf(cables []*cable) []*span {
	byEnds := map[[2]bridge]*span{}
	var spans []*span
	for _, c := range cables {
		if c.high == nil || c.Verdict == api.VerdictDown {
			continue
		}
		a, ok := liveBridge(c.low)
		b, too := liveBridge(c.high)
		if !ok || !too {
			continue
		}
		if a.compare(b) > 0 {
			a, b = b, a
		}
		s := byEnds[[2]bridge{a, b}]
		if s == nil {
			s = &span{a: a, b: b}
			byEnds[[2]bridge{a, b}] = s
			spans = append(spans, s)
		}
		s.cables = append(s.cables, c)
	}
	slices.SortFunc(spans, func(x, y *span) int { return cmp.Or(x.a.compare(y.a), x.b.compare(y.b)) })
	return spans
}

// liveBridge is the bridge that a port's interface belongs to, if it is up.
func liveBridge(p *port) (bridge, bool) {
	name := p.node.bridgeOf(p.iface())
	if i := p.node.ifaces[name]; name == "" || i == nil || !i.Up {
		return bridge{}, false
	}
	return bridge{node: p.node.ID, name: name}, true
}

// ringThrough is the shortest ring that uses the span, as its bridges in order.
func ringThrough(s *span, next map[bridge][]*span) []bridge {
	if s.a == s.b {
		return []bridge{s.a}
	}
	if len(s.cables) > 1 {
		return []bridge{s.a, s.b}
	}
	before := map[bridge]bridge{s.a: s.a}
	for queue := []bridge{s.a}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, edge := range next[at] {
			to := edge.b
			if to == at {
				to = edge.a
			}
			if _, seen := before[to]; seen || edge == s {
				continue
			}
			before[to] = at
			if to == s.b {
				return walkBack(before, to)
			}
			queue = append(queue, to)
		}
	}
	return nil
}

// walkBack lists the way from the end of a search to its beginning.
func walkBack(before map[bridge]bridge, at bridge) []bridge {
	ring := []bridge{at}
	for before[at] != at {
		at = before[at]
		ring = append(ring, at)
	}
	return ring
}

// canonicalRing names a ring by its nodes, from the lowest towards the lower of
// its neighbours, so that one ring has one name.
func canonicalRing(ring []bridge) []api.NodeID {
	nodes := make([]api.NodeID, len(ring))
	for i, b := range ring {
		nodes[i] = b.node
	}
	lowest := slices.Index(nodes, slices.Min(nodes))
	nodes = slices.Concat(nodes[lowest:], nodes[:lowest])
	if n := len(nodes); n > 2 && nodes[n-1] < nodes[1] {
		slices.Reverse(nodes[1:])
	}
	return slices.Compact(nodes)
}

func containsRing(loops [][]api.NodeID, loop []api.NodeID) bool {
	return slices.ContainsFunc(loops, func(l []api.NodeID) bool { return slices.Equal(l, loop) })
}
