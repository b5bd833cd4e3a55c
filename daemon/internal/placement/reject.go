package placement

import (
	"cmp"
	"fmt"
	"slices"

	"fulmen/daemon/api"
)

// miss is a set of nodes that cannot, and how much it lacks: nodes that do not
// qualify, versions too many, connections that are missing.
type miss struct {
	set   set
	lacks int
}

// misses is a tier's search for the sets that nearly can. Nodes that do not
// qualify count as joined to all others, so that the first thing that stops a
// set is the node.
type misses struct {
	*state
	tier     tier
	n        int
	field    *field
	able     set
	adjacent []set
	rings    *rings
	paths    *rings
}

// rejections lists, for tiers without a place, the sets that lack least; of
// those that lack as much, the ones of the tier that asks for least.
func (s *state) rejections(failed []tier) []api.PlanRejection {
	type ranked struct {
		api.PlanRejection
		lacks, tier int
	}
	var all []ranked
	for order, t := range failed {
		m, cause := s.newMisses(t)
		if cause != nil {
			all = append(all, ranked{api.PlanRejection{Nodes: s.ids(s.eligible(t)), Backend: t.backend, Cause: *cause}, 0, order})
		}
		if m == nil {
			continue
		}
		for _, x := range m.nearest(MaxRejections) {
			all = append(all, ranked{api.PlanRejection{Nodes: s.ids(m.places(x.set)), Backend: t.backend, Cause: m.cause(x)}, x.lacks, order})
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.lacks, b.lacks), cmp.Compare(b.tier, a.tier), slices.Compare(a.Nodes, b.Nodes))
	})
	out := make([]api.PlanRejection, min(len(all), MaxRejections))
	for i := range out {
		out[i] = all[i].PlanRejection
	}
	return out
}

// newMisses prepares the search. The cause says where numbers alone stop the
// tier; then there may still be single nodes to name.
func (s *state) newMisses(t tier) (*misses, *api.Cause) {
	n := s.demand.least
	if limit := t.limit(); limit > 0 && n > limit {
		return nil, hindrance(api.ReasonTooManyRanks, "ranks", "%s joins at most %d ranks, not %d", t.backend, limit, n)
	}
	var cause *api.Cause
	if n > len(s.nodes) {
		hint := ""
		if t.backend == api.BackendRing {
			if each := s.beside(); each > 0 {
				hint = fmt.Sprintf("; with --ranks-per-node %d, %d would do", each, n/each)
			}
		}
		cause, n = hindrance(api.ReasonNotEnoughNodes, "", "%s are needed, and there are %d%s", counted(n, "node"), len(s.nodes), hint), 1
	}
	if n > api.MaxExactNodes {
		cause, n = hindrance(api.ReasonNotEnoughNodes, "", "no %s of %s was found among %d", t.shape, counted(n, "node"), len(s.eligible(t))), 1
	}
	m := &misses{state: s, tier: t, n: n}
	m.field = s.newField(s.atMost(s.ableFirst(t), api.MaxExactNodes))
	m.field.join(s, t, 1)
	for bit, i := range m.field.nodes {
		if s.stopIn(i, t) == nil {
			m.able |= 1 << bit
		}
	}
	m.adjacent = m.field.adjacent(0)
	all := set(1)<<len(m.field.nodes) - 1
	for bit := range m.adjacent {
		self := set(1) << bit
		if !m.able.has(bit) {
			m.adjacent[bit] = all &^ self
		} else {
			m.adjacent[bit] |= all &^ m.able &^ self
		}
	}
	if t.shape == api.ShapeRing {
		m.rings = newRings(m.adjacent)
		m.rings.extend(n, true)
		m.paths = newRings(m.adjacent)
		m.paths.extend(n, false)
	}
	return m, cause
}

// ableFirst are all nodes, those that qualify first.
func (s *state) ableFirst(t tier) []int {
	able := s.eligible(t)
	all := slices.Clone(able)
	for i := range s.nodes {
		if !slices.Contains(able, i) {
			all = append(all, i)
		}
	}
	return all
}

// nearest are the sets that lack least, at most so many. A set that lacks
// nothing is none: then a search was not carried to its end, or one node is
// able alone.
func (m *misses) nearest(most int) []miss {
	var out []miss
	for x := range m.sets() {
		if lacks := m.lacks(x); lacks > 0 {
			out = append(out, miss{x, lacks})
		}
	}
	slices.SortFunc(out, func(a, b miss) int {
		return cmp.Or(cmp.Compare(a.lacks, b.lacks), a.set.compare(b.set))
	})
	return out[:min(len(out), most)]
}

// sets goes through all sets of n nodes with the required ones.
func (m *misses) sets() func(yield func(set) bool) {
	return func(yield func(set) bool) {
		count := len(m.field.nodes)
		if m.n > count {
			return
		}
		required := m.field.required
		if m.n < required.size() {
			required = 0 // single nodes are named
		}
		end := uint64(1) << count
		for x := uint64(1)<<m.n - 1; x < end; {
			if set(x).holds(required) && !yield(set(x)) {
				return
			}
			low := x & -x // Gosper's next number with as many bits
			up := x + low
			x = (up^x)>>2/low | up
		}
	}
}

// lacks is how much a set misses.
func (m *misses) lacks(x set) int {
	able := x & m.able
	lacks := x.size() - able.size()
	if able == x && m.n == m.demand.least && !m.field.enough(x) {
		lacks++
	}
	if m.n == 1 {
		return lacks
	}
	if v := len(m.versions(m.places(able))); v > 1 {
		lacks += v - 1
	}
	if m.tier.shape == api.ShapeMesh {
		missing := 0
		for y := able; y != 0; y &= y - 1 {
			missing += (able &^ m.adjacent[y.lowest()]).size() - 1
		}
		if _, is := m.field.overloaded(able); is {
			lacks++
		}
		return lacks + missing/2
	}
	return lacks + m.gaps(x)
}

// gaps is how many connections a set misses to be a ring: exact for none and
// one, else at least what its loosest nodes need.
func (m *misses) gaps(x set) int {
	switch {
	case m.rings.closed(x):
		return 0
	case m.paths.ends[x] != 0, x.size() == 2: // one connection makes a ring of two
		return 1
	}
	loose := 0
	for y := x; y != 0; y &= y - 1 {
		loose += max(0, 2-(m.adjacent[y.lowest()]&x).size())
	}
	return max(2, (loose+1)/2)
}

// cause is the first thing that stops a set: a node, then versions, then a
// missing connection.
func (m *misses) cause(x miss) api.Cause {
	for _, i := range m.places(x.set) {
		if c := m.stopIn(i, m.tier); c != nil {
			return *c
		}
	}
	if c := m.mixed(x.set); c != nil {
		return *c
	}
	if c := m.tooLarge(x.set); c != nil {
		return *c
	}
	if p, is := m.gap(x.set); is {
		return m.apart(pairOf(m.field.nodes[p.a], m.field.nodes[p.b]), m.tier)
	}
	// Nodes that are all joined are a ring and a mesh, so they lack receptacles alone.
	c, _ := m.field.overloaded(x.set)
	return *m.exceeds(c.node, c.portNumber, (c.peers & x.set).size(), m.tier)
}

// mixed says that a set has different versions of MLX.
func (m *misses) mixed(x set) *api.Cause {
	places := m.places(x)
	versions := m.versions(places)
	if len(versions) < 2 {
		return nil
	}
	with := func(v string) *Node {
		return m.nodes[places[slices.IndexFunc(places, func(i int) bool { return m.nodes[i].MLX.Version == v })]]
	}
	a, b := with(versions[0]), with(versions[1])
	return hindrance(api.ReasonMLXVersionsDiffer, pairSubject(a, b), "%s has MLX %s, %s has %s", a.name(), a.MLX.Version, b.name(), b.MLX.Version)
}

// gap is the first pair, by bits, that would have to be joined.
func (m *misses) gap(x set) (pair, bool) {
	members := x.members()
	loose := func(i int) bool { return (m.adjacent[i] & x).size() < 2 }
	for _, strict := range []bool{true, false} {
		for k, a := range members {
			for _, b := range members[k+1:] {
				if m.adjacent[a].has(b) {
					continue
				}
				// In a ring not every pair matters: one whose joining closes it, or else two loose ends.
				if m.tier.shape == api.ShapeRing && strict && !m.closes(x, a, b) && !(m.paths.ends[x] == 0 && loose(a) && loose(b)) {
					continue
				}
				return pair{a, b}, true
			}
		}
	}
	return pair{}, false
}

// closes reports whether joining two nodes would put a set in a ring.
func (m *misses) closes(x set, a, b int) bool {
	if m.paths.ends[x] == 0 {
		return false
	}
	small, place := compressed(x, m.adjacent)
	return set(pathsFrom(place[a], small).ends[1<<len(small)-1]).has(place[b])
}

// compressed is what is adjacent within a set, with its members numbered anew.
func compressed(x set, adjacent []set) ([]set, map[int]int) {
	members, place := x.members(), map[int]int{}
	for k, i := range members {
		place[i] = k
	}
	out := make([]set, len(members))
	for k, i := range members {
		for y := adjacent[i] & x; y != 0; y &= y - 1 {
			out[k] |= 1 << place[y.lowest()]
		}
	}
	return out, place
}

// places are the places in the state of a set's nodes.
func (m *misses) places(x set) []int { return m.field.places(x) }

// ids are the ids of nodes.
func (s *state) ids(nodes []int) []api.NodeID {
	out := make([]api.NodeID, len(nodes))
	for k, i := range nodes {
		out[k] = s.nodes[i].ID
	}
	return out
}
