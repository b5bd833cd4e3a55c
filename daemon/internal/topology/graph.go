package topology

import "fulmen/daemon/api"

// Graph is what the documents of all nodes say together. It shares memory with
// its input, which must not change after.
type Graph struct {
	// Paths are the ways over sockets, ordered by nodes and address.
	Paths []Path
	// Notes are what could not be believed or matched, in a fixed order.
	Notes []api.Cause

	index  *index
	cables []*cable
	rows   []api.LinkRow
	loops  [][]api.NodeID
}

// Build makes the graph. The same input in any order gives the same graph.
func Build(in Input) Graph {
	x := newIndex(in.Nodes)
	g := Graph{index: x, cables: cablesOf(x)}
	g.markLoops()
	g.markMuted()
	g.judgeRDMA()
	g.Paths = pathsOf(x, g.cables)
	g.rows = rowsOf(x, &g, in)
	g.Notes = x.notes.sorted()
	return g
}

// List is the graph as the API gives it.
func (g Graph) List() api.LinkListResult {
	list := api.LinkListResult{Cables: make([]api.Cable, len(g.cables)), Rows: g.rows, Loops: g.loops}
	for i, c := range g.cables {
		list.Cables[i] = c.Cable
	}
	if list.Rows == nil {
		list.Rows = []api.LinkRow{}
	}
	return list
}

// markMuted takes over what a person muted at either end.
func (g *Graph) markMuted() {
	muted := map[api.LinkID]bool{}
	for _, n := range g.index.nodes {
		for i := range n.Profiles {
			if p := &n.Profiles[i]; p.Muted && p.Link.Valid() {
				muted[p.Link] = true
			}
		}
	}
	for _, c := range g.cables {
		c.Muted = c.high != nil && muted[c.Link]
	}
}
