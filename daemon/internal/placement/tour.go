package placement

import (
	"cmp"
	"slices"
)

// tourist is a bounded search for a ring among many nodes: depth first, the
// node with the fewest ways on first, as Warnsdorff's rule has it.
type tourist struct {
	adjacent []set
	required set
	enough   func(set) bool
	n        int
	tries    int
	path     []int
}

// maxWalk bounds the tries from one node.
const maxWalk = 5_000

// tour finds n nodes with the required ones that can be put in a ring, and the
// ring; nil where the search ends without one. The tries are taken from the budget.
func (f *field) tour(n int, adjacent []set, budget *int) (set, []int) {
	if !(&rings{adjacent: adjacent}).hopeful(n, f.required) {
		return 0, nil
	}
	for start := range f.nodes {
		switch { // where every ring goes through a node, it is begun there alone
		case f.required != 0 && start != f.required.lowest(), f.required == 0 && n == len(f.nodes) && start > 0:
			continue
		}
		tries := min(maxWalk, *budget)
		t := &tourist{adjacent: adjacent, required: f.required, enough: f.enough, n: n, tries: tries, path: []int{start}}
		is := t.walk(1 << start)
		*budget -= tries - max(t.tries, 0)
		if is {
			x := set(0)
			for _, i := range t.path {
				x |= 1 << i
			}
			return x, t.path
		}
	}
	return 0, nil
}

// walk goes on from the end of the path until it is a ring.
func (t *tourist) walk(visited set) bool {
	last := t.path[len(t.path)-1]
	if len(t.path) == t.n {
		return visited.holds(t.required) && t.adjacent[last].has(t.path[0]) && t.enough(visited)
	}
	if t.tries--; t.tries < 0 {
		return false
	}
	if missing := (t.required &^ visited).size(); missing > t.n-len(t.path) {
		return false
	}
	next := (t.adjacent[last] &^ visited).members()
	slices.SortStableFunc(next, func(a, b int) int {
		need := func(i int) int {
			if t.required.has(i) {
				return 0
			}
			return 1
		}
		on := func(i int) int { return (t.adjacent[i] &^ visited).size() }
		return cmp.Or(cmp.Compare(need(a), need(b)), cmp.Compare(on(a), on(b)))
	})
	for _, i := range next {
		t.path = append(t.path, i)
		if t.walk(visited | 1<<i) {
			return true
		}
		t.path = t.path[:len(t.path)-1]
	}
	return false
}
