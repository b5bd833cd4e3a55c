package placement

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// Ranks of a node follow each other, as with mlx.launch --repeat-hosts, and find each other
// on loopback; of two nodes the last of each finds the first of the other where it is.
func TestRanksBesideEachOther(t *testing.T) {
	is := is.New(t)
	d := newScenario(2).plug(0, 1, 80).plug(0, 1, 80) // by two cables
	r := Plan(d.input(api.Placement{Ranks: 6, RanksPerNode: 3}, nil))
	is.True(r.Plan != nil)
	is.Equal(nodesOf(r.Plan), slices.Concat(ids(0, 0, 0), ids(1, 1, 1)))
	for rank, hosts := range r.Plan.Hosts {
		is.Equal(len(hosts), 2)
		is.Equal(hosts[0] == "127.0.0.1" && hosts[1] == "127.0.0.1", rank != 0 && rank != 3)
		if rank == 0 || rank == 3 {
			is.True(hosts[0] != hosts[1])
			is.Equal([]string{r.Plan.Ranks[rank].Addresses[0].String(), r.Plan.Ranks[rank].Addresses[1].String()}, hosts)
		}
	}
	is.Equal(r.Plan.Backend, api.BackendRing)
	is.Equal(len(r.Plan.Links), 4) // two cables from 2 to 3, and from 5 to 0
	is.True(slices.ContainsFunc(r.Plan.Notes, func(c api.Cause) bool {
		return c.Reason == api.ReasonBackendNotUsed && c.Message == "jaccl is not used: it takes one rank a node, which has the RDMA devices to itself"
	}))
	is.Equal(r.Plan.Lead(4), 3)
}

// One Mac is enough for a ring, and grants what all ranks on it need.
func TestRanksOnOneNode(t *testing.T) {
	is := is.New(t)
	d := newScenario(1) // of 100 GiB
	asked := api.Placement{RanksPerNode: 8, MemoryBytes: 12 << 30}
	for _, ranks := range []int{0, 8} {
		asked.Ranks = ranks
		p := Plan(d.input(asked, nil)).Plan
		is.True(p != nil)
		is.Equal(len(p.Ranks), 8)
		is.Equal(p.Shape, api.ShapeRing)
		is.Equal(p.Grant(5).MemoryBytes, int64(96<<30))
		is.Equal(p.Grant(5).Rank, 5)
		is.Equal(p.Ranks[5].MemoryBytes, int64(12<<30))
		is.Equal(p.Links, nil)
		is.True(!slices.ContainsFunc(p.Hosts, func(hosts []string) bool { return !slices.Equal(hosts, []string{"127.0.0.1"}) }))
	}
	asked.MemoryBytes = 13 << 30
	r := Plan(d.input(asked, nil))
	is.True(r.Plan == nil)
	is.Equal(r.Err().Message, "mac-0 has 100 GiB of GPU memory, and 8 ranks need 13 GiB each")
	is.Equal(messages(r.Remedies), []string{"Ask for at most 12.5 GiB a rank."})
	asked.MemoryBytes = 1<<60 + 1 // eight times which is no number
	is.True(Plan(d.input(asked, nil)).Plan == nil)
}

// Who has fewer Macs than ranks is told how the program can be tried all the same.
func TestSeveralRanksAreSuggested(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes int
		asked api.Placement
		words string
		would string
	}{
		{"one Mac", 1, api.Placement{Ranks: 2}, "2 nodes are needed, and there are 1; with --ranks-per-node 2, 1 would do", "Run 2 ranks a node, on 1 node, with --ranks-per-node 2."},
		{"an odd number", 2, api.Placement{Ranks: 9, Backend: api.BackendRing}, "9 nodes are needed, and there are 2; with --ranks-per-node 9, 1 would do", "Run 9 ranks a node, on 1 node, with --ranks-per-node 9."},
		{"a place too small", 1, api.Placement{Ranks: 2, MemoryBytes: 60 << 30}, "2 nodes are needed, and there are 1", ""},
		{"JACCL", 1, api.Placement{Ranks: 2, Backend: api.BackendJACCL}, "2 nodes are needed, and there are 1", ""},
		{"too many", 1, api.Placement{Ranks: api.MaxRanksPerNode + 1, Backend: api.BackendRing}, "33 nodes are needed, and there are 1", ""},
		{"enough Macs", 2, api.Placement{Ranks: 2}, "ring cannot join 2 ranks: mac-0 <-> mac-1: they reach each other only over en0 (ethernet), which is not Thunderbolt, not named for this job and not trusted", ""},
		{"several already", 1, api.Placement{Ranks: 4, RanksPerNode: 2}, "2 nodes are needed, and there are 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			r := Plan(newScenario(c.nodes).input(c.asked, nil))
			is.True(r.Plan == nil)
			is.Equal(r.Err().Message, c.words)
			i := slices.IndexFunc(r.Remedies, func(c api.Cause) bool { return c.Subject == "ranks_per_node" })
			is.Equal(i >= 0, c.would != "")
			if i >= 0 {
				is.Equal(r.Remedies[i].Message, c.would)
			}
		})
	}
}

// What contradicts itself is refused whatever the cluster is.
func TestContradictionsOfRanksANode(t *testing.T) {
	for words, asked := range map[string]api.Placement{
		"a node runs 1 to 32 ranks of a job, not 33":                                                         {RanksPerNode: 33},
		"a node runs 1 to 32 ranks of a job, not -1":                                                         {RanksPerNode: -1},
		"3 ranks cannot be divided into 2 a node":                                                            {Ranks: 3, RanksPerNode: 2},
		"4 ranks, 2 a node, do not fit the number of nodes that is asked for":                                {Ranks: 4, RanksPerNode: 2, MinNodes: 3},
		"2 nodes must be used, but at most 1 are wanted":                                                     {Ranks: 2, RanksPerNode: 2, Nodes: ids(0, 1)},
		"jaccl does not join 2 ranks a node: it takes one rank a node, which has the RDMA devices to itself": {RanksPerNode: 2, Backend: api.BackendJACCL},
	} {
		t.Run(words, func(t *testing.T) {
			is := is.New(t)
			r := Plan(newScenario(3).input(asked, nil))
			is.True(r.Plan == nil && r.Final)
			is.Equal(r.Err().Message, words)
		})
	}
}
