package placement

import (
	"slices"
	"sort"
)

// rings are the sets of a field's nodes that can be put in a ring, for one
// class. It holds, for each set, the nodes at which a path over the whole set
// can end that begins at the set's lowest node.
type rings struct {
	ends     []uint16
	adjacent []set
}

// ringsOf finds those with the required nodes among at most 16, of least to most nodes.
func (f *field) ringsOf(class, least, most int) *rings {
	r := &rings{ends: make([]uint16, 1<<len(f.nodes)), adjacent: f.adjacent(class)}
	if !r.hopeful(least, f.required) {
		return r
	}
	// A set's lowest node is no higher than that of the required ones, and leaves enough above it.
	for i := range min(len(f.nodes)-least, (f.required|1<<(maxField-1)).lowest()) + 1 {
		r.ends[1<<i] = 1 << i
	}
	r.extend(most, true)
	return r
}

// hopeful reports whether enough nodes, and all required ones, have the
// neighbours that a ring needs.
func (r *rings) hopeful(n int, required set) bool {
	able := set(0)
	for i, a := range r.adjacent {
		if a.size() >= min(2, n-1) {
			able |= 1 << i
		}
	}
	return able.size() >= n && able.holds(required)
}

// newRings are the paths of one node.
func newRings(adjacent []set) *rings {
	r := &rings{ends: make([]uint16, 1<<len(adjacent)), adjacent: adjacent}
	for i := range adjacent {
		r.ends[1<<i] = 1 << i
	}
	return r
}

// pathsFrom finds the paths that begin at one node instead.
func pathsFrom(start int, adjacent []set) *rings {
	r := &rings{ends: make([]uint16, 1<<len(adjacent)), adjacent: adjacent}
	r.ends[1<<start] = 1 << start
	r.extend(len(adjacent), false)
	return r
}

// extend makes longer paths of shorter ones, up to a size; upwards adds only
// nodes above a set's lowest.
func (r *rings) extend(most int, upwards bool) {
	for x := range r.ends {
		ends := set(r.ends[x])
		if ends == 0 || set(x).size() >= most {
			continue
		}
		next := set(0)
		for e := ends; e != 0; e &= e - 1 {
			next |= r.adjacent[e.lowest()]
		}
		next &^= set(x)
		if upwards {
			next &^= 1<<set(x).lowest() - 1
		}
		for ; next != 0; next &= next - 1 {
			r.ends[set(x)|next&-next] |= uint16(next & -next)
		}
	}
}

// closed reports whether a set can be put in a ring. Two nodes are one where
// they are joined: each is the other's neighbour on both sides.
func (r *rings) closed(x set) bool {
	return x.size() > 1 && set(r.ends[x])&r.adjacent[x.lowest()] != 0
}

// fits reports whether a set is of n nodes, has the required ones and enough memory, and can be put in a ring.
func (r *rings) fits(x set, n int, f *field) bool {
	return r.ends[x] != 0 && x.size() == n && x.holds(f.required) && r.closed(x) && f.enough(x)
}

// has reports whether there is such a set.
func (r *rings) has(n int, f *field) bool {
	for x := range r.ends {
		if r.fits(set(x), n, f) {
			return true
		}
	}
	return false
}

// ring finds the best set of least to most nodes, of which there are enough, that can
// be put in a ring: the fewest nodes, then the best score. With more than a search can be carried to
// its end, some ring is found.
func (f *field) ring(least, most int) (found, bool) {
	most = min(most, len(f.nodes))
	if !f.exact() {
		return f.someRing(least, most)
	}
	all := f.ringsOf(0, least, most)
	n := least
	for !all.has(n, f) {
		if n++; n > most {
			return found{}, false
		}
	}
	levels := f.levels()
	// The highest class that has a ring: the first is known to have one.
	high := sort.Search(len(levels)-1, func(i int) bool { return !f.ringsOf(levels[i+1], n, n).has(n, f) })
	return f.bestRing(f.ringsOf(levels[high], n, n), n, levels[high])
}

// bestRing is the best set of a size whose slowest link has a class.
func (f *field) bestRing(r *rings, n, class int) (best found, is bool) {
	for x := range r.ends {
		if c := (found{set: set(x)}); r.fits(c.set, n, f) {
			if c.score = f.rate(c.set, class); !is || c.better(best) {
				best, is = c, true
			}
		}
	}
	return best, is
}

// order puts a set in a ring that begins at a node and uses no link below the
// set's class: of all such rings the one that comes first by node ids, or, among
// too many nodes for that, the one that was found.
func (f *field) order(of found, first int) []int {
	if of.around != nil {
		return turned(of.around, first)
	}
	adjacent := f.adjacent(of.score.class)
	r := pathsFrom(first, within(of.set, adjacent))
	order, left := []int{first}, of.set&^(1<<first)
	for left != 0 {
		last := order[len(order)-1]
		for c := left & adjacent[last]; c != 0; c &= c - 1 {
			next := c.lowest()
			rest := left &^ (1 << next)
			// The way back to the first is a path from it over what is left.
			ends := set(r.ends[rest|1<<first])
			if ends&adjacent[next] != 0 {
				order, left = append(order, next), rest
				break
			}
		}
		if order[len(order)-1] == last {
			return nil // cannot be: the set was found to be a ring
		}
	}
	return order
}

// turned is a ring from another of its nodes on, towards the lower neighbour.
func turned(around []int, first int) []int {
	i := slices.Index(around, first)
	out := slices.Concat(around[i:], around[:i])
	if out[len(out)-1] < out[1] {
		slices.Reverse(out[1:])
	}
	return out
}

// within keeps of what is adjacent only what belongs to a set.
func within(x set, adjacent []set) []set {
	out := make([]set, len(adjacent))
	for i := range adjacent {
		if x.has(i) {
			out[i] = adjacent[i] & x
		}
	}
	return out
}

// someRing finds a ring among more nodes than can be searched to the end: of the
// fewest nodes with which a bounded search finds one, at the highest class at
// which it does.
func (f *field) someRing(least, most int) (best found, is bool) {
	budget, levels := maxTries, f.levels()
	try := func(n, class int) bool {
		x, around := f.tour(n, f.adjacent(class), &budget)
		if around != nil {
			best, is = found{set: x, score: f.rate(x, class), around: around}, true
		}
		return around != nil
	}
	for n := least; n <= most; n++ {
		if try(n, 0) {
			sort.Search(len(levels), func(i int) bool { return !try(n, levels[i]) })
			break
		}
	}
	return best, is
}
