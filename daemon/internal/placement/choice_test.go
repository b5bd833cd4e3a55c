package placement

import (
	"reflect"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

func TestCountsMemory(t *testing.T) {
	for name, c := range map[string]struct {
		p    api.Placement
		want bool
	}{
		"all there are":         {api.Placement{Ranks: 4}, false},
		"more than there are":   {api.Placement{Ranks: 5}, false},
		"two on each of all":    {api.Placement{Ranks: 8, RanksPerNode: 2}, false},
		"two on each of some":   {api.Placement{Ranks: 4, RanksPerNode: 2}, true},
		"some of them":          {api.Placement{Ranks: 3}, true},
		"one of them":           {api.Placement{Ranks: 1}, true},
		"any number":            {api.Placement{}, true},
		"from two to three":     {api.Placement{MinNodes: 2, MaxNodes: 3}, true},
		"all, with memory":      {api.Placement{Ranks: 4, MemoryBytes: 1}, true},
		"all, with shares":      {api.Placement{Ranks: 4, ShareBy: api.ShareByMemory}, true},
		"those that are named":  {api.Placement{Ranks: 2, Nodes: ids(1, 2)}, false},
		"one here":              {api.Placement{Ranks: 1, Rank0: id(3)}, false},
		"one named and another": {api.Placement{Ranks: 2, Nodes: ids(1)}, true},
		"named twice":           {api.Placement{Ranks: 2, Nodes: ids(1), Rank0: id(1)}, true},
		"named by both":         {api.Placement{Ranks: 2, Nodes: ids(1), Rank0: id(2)}, false},
		"all that are left":     {api.Placement{Ranks: 3, ExcludedNodes: ids(0)}, false},
		"two of three left":     {api.Placement{Ranks: 2, ExcludedNodes: ids(0)}, true},
		"the rest of a name":    {api.Placement{Ranks: 3, Nodes: ids(1), ExcludedNodes: ids(0)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := CountsMemory(c.p, ids(0, 1, 2, 3)); got != c.want {
				t.Errorf("%+v: %t", c.p, got)
			}
		})
	}
}

// Where memory does not count every plan is the same, whatever nodes have free.
func TestPlansWithoutMemory(t *testing.T) {
	counted := 0
	for seed := range testkit.Upto(t, 600) {
		r := seed.Source(7)
		d := randomScenario(r, 5)
		p := randomPlacement(r, d)
		p.MemoryBytes = 0
		in := d.input(p, nil)
		var members []api.NodeID
		for _, n := range in.Nodes {
			members = append(members, n.ID)
		}
		if CountsMemory(p, members) {
			continue
		}
		before := Plan(in)
		if before.Plan != nil {
			counted++
		}
		for i := range in.Nodes {
			in.Nodes[i].AvailableBytes, in.Nodes[i].WorkingSetBytes = new(r.Int64N(100)), nil
		}
		if after := Plan(in); !reflect.DeepEqual(before, after) {
			t.Fatalf("seed %d: %+v has the plan %+v, and with other memory %+v", seed, p, before.Plan, after.Plan)
		}
	}
	if counted < 30 {
		t.Errorf("only %d plans were compared", counted)
	}
}

// A refusal of a range names sets of the fewest nodes that will do, and how large the sets
// are that cannot either.
func TestRefusalsOfARange(t *testing.T) {
	for _, c := range []struct {
		asked api.Placement
		most  int
		words string
	}{
		{api.Placement{MinNodes: 2, MaxNodes: 3}, 3, "jaccl cannot join 2 to 3 ranks: mac-0 <-> mac-1: no cable joins them"},
		{api.Placement{MinNodes: 2}, 4, "jaccl cannot join 2 to 4 ranks: mac-0 <-> mac-1: no cable joins them"},
		{api.Placement{MinNodes: 3, MaxNodes: 9}, 4, "jaccl cannot join 3 to 4 ranks: mac-0 <-> mac-1: no cable joins them"},
		{api.Placement{MinNodes: 4, MaxNodes: 9}, 0, "jaccl cannot join 4 ranks: mac-0 <-> mac-1: no cable joins them"},
		{api.Placement{MinNodes: 5, MaxNodes: 9}, 0, "5 nodes are needed, and there are 4"},
		{api.Placement{Ranks: 2}, 0, "jaccl cannot join 2 ranks: mac-0 <-> mac-1: no cable joins them"},
	} {
		is := is.New(t)
		c.asked.Backend = api.BackendJACCL
		r := Plan(newScenario(4).input(c.asked, nil))
		is.Equal(r.Wire().MaxNodes, c.most)
		is.True(strings.HasSuffix(r.Err().Message, c.words))
		for _, rejection := range r.Rejections {
			is.True(len(rejection.Nodes) == max(c.asked.MinNodes, c.asked.Ranks) || c.asked.MinNodes == 5)
		}
	}
}
