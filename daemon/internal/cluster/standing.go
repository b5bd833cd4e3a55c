package cluster

import (
	"slices"

	"fulmen/daemon/api"
)

// standing is which entries of a sorted history count, given which removals do.
type standing struct {
	history   *history
	removals  []*step // those that count
	additions map[*step]bool
}

// members judges a sorted history. Whether a removal counts depends on who was
// a member, and that on which removals count: the circle is walked until
// nothing changes. Where halves of a cluster removed each other by nodes that
// they had added in the meantime, it never ends; then every removal that counted
// on the way does, because a removal too many is mended by pairing again, and
// one too few is not.
func (h *history) members() []api.Member {
	now := standing{history: h}
	now.judge()
	for rounds := len(h.steps); ; rounds-- {
		next := now.counting()
		if rounds < 0 {
			next = union(h.steps, now.removals, next)
		}
		if slices.Equal(next, now.removals) {
			break
		}
		now.removals = next
		now.judge()
	}
	return now.list()
}

// judge finds the additions that count.
func (s *standing) judge() {
	s.additions = map[*step]bool{}
	for _, e := range s.history.steps { // whoever is in the past comes first
		s.additions[e] = e.entry.Type == EntryFound || e.adds() && s.isMember(e.entry.By, e) && !s.isUndone(e)
	}
}

// counting are the removals by members, in the history's order.
func (s *standing) counting() []*step {
	var all []*step
	for _, e := range s.history.steps {
		if e.entry.Type == EntryRemove && s.isMember(e.entry.By, e) && s.isAdded(e.entry.Node, e) {
			all = append(all, e)
		}
	}
	return all
}

// isMember reports whether a node was one in an entry's past.
func (s *standing) isMember(node api.NodeID, at *step) bool {
	return s.isAdded(node, at) && !slices.ContainsFunc(s.removals, func(r *step) bool {
		return r.entry.Node == node && at.past.has(r)
	})
}

// isAdded reports whether a node was ever made a member in an entry's past.
func (s *standing) isAdded(node api.NodeID, at *step) bool {
	return slices.ContainsFunc(s.history.steps, func(p *step) bool {
		return p.entry.Node == node && s.additions[p] && at.past.has(p)
	})
}

// isUndone reports whether the signer of an addition was removed by somebody who
// had not seen it.
func (s *standing) isUndone(addition *step) bool {
	return slices.ContainsFunc(s.removals, func(r *step) bool {
		return r.entry.Node == addition.entry.By && !r.past.has(addition) && !addition.past.has(r)
	})
}

// list is all who ever were members, in the order in which they were added.
func (s *standing) list() []api.Member {
	var all []api.Member
	at := map[api.NodeID]int{}
	for _, e := range s.history.steps {
		if _, known := at[e.entry.Node]; s.additions[e] && !known {
			at[e.entry.Node] = len(all)
			all = append(all, api.Member{Node: e.entry.Node, AddedBy: e.entry.By, AddedAt: e.entry.At})
		}
	}
	for _, r := range s.removals {
		if i, known := at[r.entry.Node]; known && all[i].RemovedBy == "" {
			all[i].RemovedBy, all[i].RemovedAt = r.entry.By, r.entry.At
		}
	}
	return all
}

// union is what is in either list, in the history's order.
func union(steps, a, b []*step) []*step {
	var all []*step
	for _, e := range steps {
		if slices.Contains(a, e) || slices.Contains(b, e) {
			all = append(all, e)
		}
	}
	return all
}
