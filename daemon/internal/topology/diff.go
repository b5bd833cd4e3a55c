package topology

import (
	"reflect"
	"slices"

	"fulmen/daemon/api"
)

// Diff is the difference between two graphs; false where there is none.
func Diff(before, after api.LinkListResult) (api.LinkChanged, bool) {
	var c api.LinkChanged
	c.Cables, c.GoneCables = cableChanges(before.Cables, after.Cables)
	c.Rows, c.GoneRows = rowChanges(before.Rows, after.Rows)
	if !slices.EqualFunc(before.Loops, after.Loops, slices.Equal) {
		c.Loops = append([][]api.NodeID{}, after.Loops...) // none is said as an empty list
	}
	return c, len(c.Cables)+len(c.GoneCables)+len(c.Rows)+len(c.GoneRows) > 0 || c.Loops != nil
}

// rowChanges gives the rows that are new or changed, and the keys of those gone.
func rowChanges(before, after []api.LinkRow) (put []api.LinkRow, gone []api.LinkRowKey) {
	was := make(map[api.LinkRowKey]*api.LinkRow, len(before))
	for i := range before {
		was[before[i].LinkRowKey] = &before[i]
	}
	for _, row := range after {
		if old := was[row.LinkRowKey]; old == nil || !reflect.DeepEqual(*old, row) {
			put = append(put, row)
		}
		delete(was, row.LinkRowKey)
	}
	for i := range before {
		if _, left := was[before[i].LinkRowKey]; left {
			gone = append(gone, before[i].LinkRowKey)
		}
	}
	return put, gone
}

// cableChanges does the same with cables. A hub gives a receptacle several, and
// of those without an id two may look alike: wherever one of an end is gone, the
// end is given with all that it has left.
func cableChanges(before, after []api.Cable) (put []api.Cable, gone []api.LinkEnd) {
	was, is := byFirstEnd(before), byFirstEnd(after)
	for _, end := range endsOf(before, after) {
		old, now := was[end], is[end]
		if reflect.DeepEqual(old, now) {
			continue
		}
		if !keepsAll(old, now) {
			gone = append(gone, end)
			put = append(put, now...)
			continue
		}
		for _, cable := range now {
			if !slices.ContainsFunc(old, func(o api.Cable) bool { return reflect.DeepEqual(o, cable) }) {
				put = append(put, cable)
			}
		}
	}
	return put, gone
}

func byFirstEnd(cables []api.Cable) map[api.LinkEnd][]api.Cable {
	groups := map[api.LinkEnd][]api.Cable{}
	for _, cable := range cables {
		groups[cable.Ends[0].End] = append(groups[cable.Ends[0].End], cable)
	}
	return groups
}

// endsOf lists the first ends of cables, in order, each once.
func endsOf(lists ...[]api.Cable) []api.LinkEnd {
	var ends []api.LinkEnd
	for _, cables := range lists {
		for _, cable := range cables {
			ends = append(ends, cable.Ends[0].End)
		}
	}
	slices.SortFunc(ends, api.LinkEnd.Compare)
	return slices.Compact(ends)
}

// cableKey is how a client tells the cables of one end apart.
type cableKey struct {
	link api.LinkID
	peer string
}

// keepsAll reports whether every cable of an end is still there, and no two of
// them have one key, before or now.
func keepsAll(old, now []api.Cable) bool {
	before, after := keysOf(old), keysOf(now)
	for key := range before {
		if !after[key] {
			return false
		}
	}
	return len(before) == len(old) && len(after) == len(now)
}

func keysOf(cables []api.Cable) map[cableKey]bool {
	keys := map[cableKey]bool{}
	for _, cable := range cables {
		keys[cableKey{cable.Link, cable.PeerName}] = true
	}
	return keys
}
