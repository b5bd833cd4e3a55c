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

// span is all bridged cables between two bridges, which are numbered.
type span struct {
	a, b   int
	cables []*cable
}

// meshOfBridges is what the bridged cables make of the bridges.
type meshOfBridges struct {
	bridges []bridge // in order
	spans   []*span  // in order
	next    [][]*span
}

// markLoops finds the rings of bridged cables, in which frames would run round
// for ever, and marks the cables of every one: for each pair of bridges the
// shortest ring through it, parallel cables being the shortest of all.
func (g *Graph) markLoops() {
	m := bridgesOf(g.cables)
	for _, s := range m.spans {
		ring := m.ringThrough(s)
		if ring == nil {
			continue
		}
		for _, c := range s.cables {
			c.worsen(api.VerdictBad, api.ReasonBridgeLoop)
		}
		if loop := canonicalRing(ring); len(g.loops) < MaxLoops && !containsRing(g.loops, loop) {
			g.loops = append(g.loops, loop)
		}
	}
	slices.SortFunc(g.loops, func(a, b []api.NodeID) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), slices.Compare(a, b))
	})
}

// bridgesOf groups the cables that carry frames between bridges that are up.
func bridgesOf(cables []*cable) *meshOfBridges {
	byEnds := map[[2]bridge][]*cable{}
	m := &meshOfBridges{}
	for _, c := range cables {
		if c.high == nil || c.Verdict == api.VerdictDown {
			continue
		}
		a, ok := liveBridge(c.low)
		b, too := liveBridge(c.high)
		if !ok || !too {
			continue
		}
		ends := [2]bridge{a, b}
		if byEnds[ends] == nil {
			m.bridges = append(m.bridges, a, b)
		}
		byEnds[ends] = append(byEnds[ends], c)
	}
	slices.SortFunc(m.bridges, bridge.compare)
	m.bridges = slices.Compact(m.bridges)
	number := make(map[bridge]int, len(m.bridges))
	for i, b := range m.bridges {
		number[b] = i
	}
	for ends, between := range byEnds {
		m.spans = append(m.spans, &span{a: number[ends[0]], b: number[ends[1]], cables: between})
	}
	slices.SortFunc(m.spans, func(x, y *span) int { return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b)) })
	m.next = make([][]*span, len(m.bridges))
	for _, s := range m.spans {
		m.next[s.a] = append(m.next[s.a], s)
		if s.b != s.a {
			m.next[s.b] = append(m.next[s.b], s)
		}
	}
	return m
}

// liveBridge is the bridge that a port's interface belongs to, if it is up.
func liveBridge(p *port) (bridge, bool) {
	name := p.node.bridgeOf(p.iface())
	if i := p.node.ifaces[name]; name == "" || i == nil || !i.Up {
		return bridge{}, false
	}
	return bridge{node: p.node.ID, name: name}, true
}

// ringThrough is the nodes of the shortest ring that uses the span, in order;
// nil where it is in none.
func (m *meshOfBridges) ringThrough(s *span) []api.NodeID {
	if s.a == s.b {
		return m.nodesOf(s.a)
	}
	if len(s.cables) > 1 {
		return m.nodesOf(s.a, s.b)
	}
	const unseen = -1
	before := slices.Repeat([]int{unseen}, len(m.bridges))
	before[s.a] = s.a
	queue := make([]int, 1, len(m.bridges))
	queue[0] = s.a
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, edge := range m.next[at] {
			to := edge.a + edge.b - at
			if before[to] != unseen || edge == s {
				continue
			}
			before[to] = at
			if to == s.b {
				return m.walkBack(before, to)
			}
			queue = append(queue, to)
		}
	}
	return nil
}

// walkBack lists the way from the end of a search to its beginning.
func (m *meshOfBridges) walkBack(before []int, at int) []api.NodeID {
	ring := m.nodesOf(at)
	for before[at] != at {
		at = before[at]
		ring = append(ring, m.bridges[at].node)
	}
	return ring
}

func (m *meshOfBridges) nodesOf(numbers ...int) []api.NodeID {
	nodes := make([]api.NodeID, len(numbers))
	for i, n := range numbers {
		nodes[i] = m.bridges[n].node
	}
	return nodes
}

// canonicalRing names a ring by its nodes, from the lowest towards the lower of
// its neighbours, so that one ring has one name.
func canonicalRing(nodes []api.NodeID) []api.NodeID {
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
