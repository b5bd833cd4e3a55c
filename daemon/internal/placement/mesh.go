package placement

// maxTries bounds a search that is too large to be carried to its end.
const maxTries = 200_000

// mesh finds the best set of n nodes of which every two are joined.
func (f *field) mesh(n int) (found, bool) {
	m := &mesher{field: f, n: n, adjacent: f.adjacent(0), tries: maxTries, bounded: !f.exact()}
	all := set(1)<<len(f.nodes) - 1 // all bits of maxField nodes, too
	// The required ones come first, so that no set without them is looked at.
	start, candidates, class := set(0), all, noClass
	for r := f.required; r != 0; r &= r - 1 {
		i := r.lowest()
		if !m.adjacent[i].holds(start) {
			return found{}, false
		}
		class = m.slowest(start, i, class)
		start |= 1 << i
		candidates &= m.adjacent[i]
	}
	if _, is := f.overloaded(start); !is {
		m.grow(start, candidates&^start, class)
	}
	return m.best, m.is
}

// noClass is above that of every link: the slowest of none.
const noClass = 1 << 30

// mesher is one search for a mesh.
type mesher struct {
	*field
	n        int
	adjacent []set
	best     found
	is       bool
	bounded  bool
	tries    int
}

// grow adds nodes in the order of their ids, each above the last, and drops
// what can become no better than the best so far.
func (m *mesher) grow(x, candidates set, class int) {
	if x.size() == m.n {
		if !m.enough(x) {
			return
		}
		if f := (found{set: x, score: m.rate(x, class)}); !m.is || f.better(m.best) {
			m.best, m.is = f, true
		}
		return
	}
	if m.bounded {
		if m.tries--; m.tries < 0 {
			return
		}
	}
	for c := candidates; x.size()+c.size() >= m.n && c != 0; c &= c - 1 {
		i := c.lowest()
		next := m.slowest(x, i, class)
		if m.is && next < m.best.score.class {
			continue
		}
		if _, is := m.overloaded(x | 1<<i); is {
			continue
		}
		m.grow(x|1<<i, (c&(c-1))&m.adjacent[i], next)
	}
}

// slowest is the lowest class once a node is added.
func (m *mesher) slowest(x set, i, class int) int {
	for ; x != 0; x &= x - 1 {
		class = min(class, m.classes[i][x.lowest()])
	}
	return class
}
