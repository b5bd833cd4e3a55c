package placement

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// What a spec asks for at the bounds of what can be asked: how many nodes will do, or
// the subject and the reason of the first fault.
func TestDemands(t *testing.T) {
	const none = api.Reason("")
	for _, c := range []struct {
		name        string
		p           api.Placement
		least, most int
		subject     string
		reason      api.Reason
	}{
		{"nothing", api.Placement{}, 1, 0, "", none},
		{"no backend", api.Placement{Backend: "mpi"}, 0, 0, "backend", api.ReasonBadValue},
		{"no way to get the GPU", api.Placement{GPU: "half"}, 0, 0, "gpu", api.ReasonBadValue},
		{"negative ranks", api.Placement{Ranks: -1}, 0, 0, "placement", api.ReasonBadValue},
		{"negative least", api.Placement{MinNodes: -1}, 0, 0, "placement", api.ReasonBadValue},
		{"negative most", api.Placement{MaxNodes: -1}, 0, 0, "placement", api.ReasonBadValue},
		{"negative memory", api.Placement{MemoryBytes: -1}, 0, 0, "placement", api.ReasonBadValue},
		{"the most ranks", api.Placement{Ranks: api.MaxRank}, api.MaxRank, api.MaxRank, "", none},
		{"more ranks", api.Placement{Ranks: api.MaxRank + 1}, 0, 0, "ranks", api.ReasonBadValue},
		{"ranks and as many nodes", api.Placement{Ranks: 3, MinNodes: 3, MaxNodes: 3}, 3, 3, "", none},
		{"ranks on more nodes", api.Placement{Ranks: 3, MinNodes: 4}, 0, 0, "ranks", api.ReasonSpecConflict},
		{"ranks on fewer nodes", api.Placement{Ranks: 3, MaxNodes: 2}, 0, 0, "ranks", api.ReasonSpecConflict},
		{"nodes without ranks", api.Placement{MinNodes: 4}, 4, 0, "", none},
		{"at most some", api.Placement{MaxNodes: 4}, 1, 4, "", none},
		{"just so many", api.Placement{MinNodes: 4, MaxNodes: 4}, 4, 4, "", none},
		{"more than there may be", api.Placement{MinNodes: 5, MaxNodes: 4}, 0, 0, "min_nodes", api.ReasonSpecConflict},
		{"as many named", api.Placement{MaxNodes: 2, Nodes: ids(1), Rank0: id(2)}, 2, 2, "", none},
		{"the same twice", api.Placement{Ranks: 1, Nodes: ids(1), Rank0: id(1)}, 1, 1, "", none},
		{"more named", api.Placement{MaxNodes: 1, Nodes: ids(1), Rank0: id(2)}, 0, 0, "nodes", api.ReasonSpecConflict},
		{"named and excluded", api.Placement{Nodes: ids(1, 2), ExcludedNodes: ids(2)}, 0, 0, string(id(2)), api.ReasonSpecConflict},
		{"a whole mesh", api.Placement{Backend: api.BackendJACCL, Ranks: api.MaxMeshRanks}, api.MaxMeshRanks, api.MaxMeshRanks, "", none},
		{"more than a mesh", api.Placement{Backend: api.BackendJACCL, Ranks: api.MaxMeshRanks + 1}, 0, 0, "ranks", api.ReasonTooManyRanks},
		{"more than a mesh with any backend", api.Placement{Ranks: api.MaxMeshRanks + 1}, api.MaxMeshRanks + 1, api.MaxMeshRanks + 1, "", none},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d, wrong := demandOf(&api.JobSpec{Placement: c.p})
			if c.reason != none {
				is.True(wrong != nil)
				is.Equal(wrong.Reason, c.reason)
				is.Equal(wrong.Subject, c.subject)
				return
			}
			is.Equal(wrong, nil)
			is.Equal([]int{d.least, d.most}, []int{c.least, c.most})
		})
	}
}
