package topology

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/seeds"
)

const (
	nodeA = api.NodeID("cpv0cwypxp44qw0p")
	nodeB = api.NodeID("71532pmrr5f6wz0c")
)

// applied is what a client has that keeps to the words of LinkChanged.
func applied(list api.LinkListResult, c api.LinkChanged) api.LinkListResult {
	list.Cables, list.Rows = slices.Clone(list.Cables), slices.Clone(list.Rows)
	list.Cables = slices.DeleteFunc(list.Cables, func(one api.Cable) bool { return slices.Contains(c.GoneCables, one.Ends[0].End) })
	for _, cable := range c.Cables {
		at := slices.IndexFunc(list.Cables, func(one api.Cable) bool {
			if cable.Link.Valid() || one.Link.Valid() {
				return one.Link == cable.Link
			}
			return one.Ends[0].End == cable.Ends[0].End && one.PeerName == cable.PeerName
		})
		if at < 0 || slices.Contains(c.GoneCables, cable.Ends[0].End) {
			list.Cables = append(list.Cables, cable)
			continue
		}
		list.Cables[at] = cable
	}
	list.Rows = slices.DeleteFunc(list.Rows, func(one api.LinkRow) bool { return slices.Contains(c.GoneRows, one.LinkRowKey) })
	for _, row := range c.Rows {
		if at := slices.IndexFunc(list.Rows, func(one api.LinkRow) bool { return one.LinkRowKey == row.LinkRowKey }); at >= 0 {
			list.Rows[at] = row
		} else {
			list.Rows = append(list.Rows, row)
		}
	}
	if c.Loops != nil {
		list.Loops = c.Loops
	}
	return list
}

// graphOf makes a graph of a few cables, rows and loops by chance.
func graphOf(r *rand.Rand) api.LinkListResult {
	list := api.LinkListResult{Cables: []api.Cable{}, Rows: []api.LinkRow{}, Loops: [][]api.NodeID{}}
	used := map[api.LinkID]bool{}
	for range r.IntN(6) {
		low := api.LinkEnd{Node: nodeB, Receptacle: api.Receptacle(1 + r.IntN(2))}
		cable := api.Cable{Ends: []api.CableEnd{{End: low}}, Kind: []api.LinkKind{api.LinkTB4, api.LinkTB5}[r.IntN(2)]}
		if r.IntN(2) == 0 {
			cable.PeerName = []string{"Mac15,14", "Mac17,6"}[r.IntN(2)] // a hub may lead to two that are called alike
		} else {
			high := api.LinkEnd{Node: nodeA, Receptacle: api.Receptacle(1 + r.IntN(3))}
			cable.Link = api.LinkID{Low: low, High: high}
			cable.Ends = append(cable.Ends, api.CableEnd{End: high})
			if used[cable.Link] {
				continue
			}
			used[cable.Link] = true
		}
		list.Cables = append(list.Cables, cable)
	}
	for n := range 3 {
		if r.IntN(2) == 0 {
			row := api.LinkRow{LinkRowKey: api.LinkRowKey{From: nodeA, To: nodeB, Name: string(rune('a' + n))}, Old: r.IntN(2) == 0}
			list.Rows = append(list.Rows, row)
		}
	}
	if r.IntN(3) == 0 {
		list.Loops = append(list.Loops, []api.NodeID{nodeB, nodeA})
	}
	return list
}

// sorted puts a graph in an order in which two can be compared.
func sorted(list api.LinkListResult) api.LinkListResult {
	slices.SortFunc(list.Cables, func(a, b api.Cable) int {
		if d := a.Ends[0].End.Compare(b.Ends[0].End); d != 0 {
			return d
		}
		if d := a.Link.Compare(b.Link); d != 0 {
			return d
		}
		return slices.Compare([]string{a.PeerName, string(a.Kind)}, []string{b.PeerName, string(b.Kind)})
	})
	slices.SortFunc(list.Rows, func(a, b api.LinkRow) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	return list
}

// Whoever applies the differences has the new graph, whatever the two were.
func TestDifferencesLeadToTheNewGraph(t *testing.T) {
	r := seeds.Fixed(t, 1).Source(2)
	for range 2000 {
		is := is.New(t)
		before, after := graphOf(r), graphOf(r)
		change, changed := Diff(before, after)
		is.Equal(sorted(applied(before, change)), sorted(after))
		if _, again := Diff(after, after); again {
			t.Fatal("a graph differs from itself")
		}
		if !changed {
			is.Equal(sorted(before), sorted(after))
		}
	}
}

func TestOnlyDifferencesAreSent(t *testing.T) {
	is := is.New(t)
	end := func(node api.NodeID, n int) api.LinkEnd {
		return api.LinkEnd{Node: node, Receptacle: api.Receptacle(n)}
	}
	cable := func(n int, kind api.LinkKind) api.Cable {
		link := api.LinkID{Low: end(nodeB, n), High: end(nodeA, n)}
		return api.Cable{Link: link, Ends: []api.CableEnd{{End: link.Low}, {End: link.High}}, Kind: kind}
	}
	before := api.LinkListResult{Cables: []api.Cable{cable(1, api.LinkTB5), cable(2, api.LinkTB5), cable(3, api.LinkTB5)}, Loops: [][]api.NodeID{{nodeA}}}
	after := api.LinkListResult{Cables: []api.Cable{cable(1, api.LinkTB5), cable(2, api.LinkTB4)}}
	change, _ := Diff(before, after)
	is.Equal(change, api.LinkChanged{
		Cables: []api.Cable{cable(2, api.LinkTB4)}, GoneCables: []api.LinkEnd{end(nodeB, 3)}, Loops: [][]api.NodeID{},
	})
}
