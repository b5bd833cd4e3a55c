package placement

import (
	"cmp"
	"slices"

	"fulmen/daemon/api"
)

// choice is the best that a tier has.
type choice struct {
	tier tier
	// width is how many connections each two neighbours use.
	width int
	found found
	field *field
}

// nodes are the places of the chosen nodes, ascending.
func (c choice) nodes() []int {
	out := c.found.set.members()
	for i, bit := range out {
		out[i] = c.field.nodes[bit]
	}
	return out
}

// better reports whether a choice of the same tier is to be preferred.
func (c choice) better(o choice) bool {
	a, b := c.nodes(), o.nodes()
	return cmp.Or(cmp.Compare(len(b), len(a)), c.found.score.compare(o.found.score), slices.Compare(b, a)) > 0
}

// eligible are the places of the nodes that qualify for a tier.
func (s *state) eligible(t tier) []int {
	var out []int
	for i := range s.nodes {
		if s.stopIn(i, t) == nil {
			out = append(out, i)
		}
	}
	return out
}

// versions are the known versions of MLX of nodes; just the empty one where they
// need not be alike.
func (s *state) versions(nodes []int) []string {
	var all []string
	for _, i := range nodes {
		if v := s.nodes[i].MLX.Version; v != "" {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 || s.in.Spec.AllowMixed {
		return []string{""}
	}
	return all
}

// groups are the parts of nodes that may run together: those with one version
// of MLX, each with those whose version is not known. Groups without the
// required nodes are left out.
func (s *state) groups(nodes []int) [][]int {
	var out [][]int
	for _, v := range s.versions(nodes) {
		var group []int
		for _, i := range nodes {
			if have := s.nodes[i].MLX.Version; v == "" || have == "" || have == v {
				group = append(group, i)
			}
		}
		missing := slices.ContainsFunc(s.required, func(i int) bool { return !slices.Contains(group, i) })
		if !missing {
			out = append(out, s.atMost(group, maxField))
		}
	}
	return out
}

// atMost keeps so many nodes, ascending: the required ones, then those that come first.
func (s *state) atMost(nodes []int, most int) []int {
	kept := slices.Clone(s.required)
	for _, i := range nodes {
		if len(kept) < most && !slices.Contains(kept, i) {
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)
	return kept
}

// search finds the best choice among nodes, and whether the search was carried
// to its end. Of choices that are as good, the one with the fewest connections,
// which is tried first, leaves most devices to others.
func (s *state) search(t tier, nodes []int) (best choice, is, exact bool) {
	exact = true
	least, most := s.demand.least, cmp.Or(s.demand.most, maxField)
	if limit := t.limit(); limit > 0 {
		most = min(most, limit)
	}
	if least > most {
		return best, false, true
	}
	for _, group := range s.groups(nodes) {
		if len(group) < least {
			continue
		}
		for width := 1; width <= t.widest(); width++ {
			f := s.newField(group)
			exact = exact && f.exact()
			if !f.join(s, t, width) {
				break
			}
			c := choice{tier: t, width: width, field: f}
			var found bool
			if t.shape == api.ShapeMesh {
				c.found, found = f.mesh(least) // with more nodes there is one with the least too
			} else {
				c.found, found = f.ring(least, most)
			}
			if found && (!is || c.better(best)) {
				best, is = c, true
			}
		}
	}
	return best, is, exact
}

// single chooses the node of a job with one rank.
func (s *state) single(t tier) (choice, bool) {
	best, is := choice{}, false
	for _, group := range s.groups(s.eligible(t)) {
		f := s.newField(group)
		for bit := range group {
			x := set(1) << bit
			c := choice{tier: t, field: f, found: found{set: x, score: f.rate(x, noClass)}}
			if x.holds(f.required) && (!is || c.better(best)) {
				best, is = c, true
			}
		}
	}
	return best, is
}
