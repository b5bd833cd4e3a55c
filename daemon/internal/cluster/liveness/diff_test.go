package liveness

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// apply is what a client does with a change.
func apply(nodes []api.NodeView, totals api.Totals, c Change) ([]api.NodeView, api.Totals) {
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n api.NodeView) bool {
		return slices.Contains(c.Del, n.Node) || slices.ContainsFunc(c.Put, func(p api.NodeView) bool { return p.Node == n.Node })
	})
	nodes = append(nodes, c.Put...)
	slices.SortFunc(nodes, compare)
	if c.Totals != nil {
		totals = *c.Totals
	}
	return nodes, totals
}

func TestDifferencesMakeTheViewAndNoMore(t *testing.T) {
	is := is.New(t)
	random := testkit.Fixed(t, 5).Source(6)
	states := []api.SelfState{api.SelfAwake, api.SelfAsleep, api.SelfRestarting, api.SelfStopping, api.SelfLeft}
	seen := []api.Liveness{api.LivenessAlive, api.LivenessSuspect, api.LivenessUnreachable}
	in := scenario()
	before := Derive(in)
	nodes, totals := before.Nodes, before.Totals
	quiet, deletions := 0, 0
	for range 400 {
		m := 1 + random.IntN(3)
		node := in.Members[m].Node
		switch random.IntN(5) {
		case 0:
			in.Seen[node] = Seen{Liveness: seen[random.IntN(3)], Since: at(float64(random.IntN(3)))}
		case 1:
			d := reported(node, states[random.IntN(5)], "")
			d.Seq = 1 + uint64(random.IntN(1000))
			in.report(d)
		case 2:
			in.Members = slices.Clone(in.Members)
			in.Members[m].RemovedAt = at(float64(random.IntN(2) * -9999))
			if in.Members[m].RemovedBy == "" {
				in.Members[m].RemovedBy = studio
			} else {
				in.Members[m].RemovedBy = ""
			}
		case 3:
			delete(in.Paths, node)
		}
		after := Derive(in)
		c, changed := Diff(before, after)
		is.Equal(changed, c.Put != nil || c.Del != nil || c.Totals != nil)
		if !changed {
			quiet++
		}
		deletions += len(c.Del)
		for _, n := range c.Put {
			old, found := before.Node(n.Node)
			is.True(!found || !equalViews(old, n))
		}
		nodes, totals = apply(nodes, totals, c)
		is.Equal(nodes, after.Nodes)
		is.Equal(totals, after.Totals)
		before = after
	}
	is.True(quiet > 50 && deletions > 10)
	_, changed := Diff(Derive(in), Derive(in))
	is.True(!changed)
}

func equalViews(a, b api.NodeView) bool {
	c, changed := Diff(View{Nodes: []api.NodeView{a}}, View{Nodes: []api.NodeView{b}})
	return !changed && c.Put == nil
}
