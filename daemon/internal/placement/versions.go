package placement

import (
	"fmt"
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// ringAllGather is the first MLX whose all_gather over JACCL's ring was seen to
// be right; 0.32.2 gives wrong data.
const ringAllGather = "0.32.4"

// meshCables is the first MLX whose mesh uses several cables of a pair; it cannot read
// the matrix of one before.
const meshCables = "0.32.4"

// oldMesh is the node of a pair whose MLX uses one cable a pair in a mesh; -1 for none.
// A version that is not known counts as a new one: the preflight before the start looks.
func (s *state) oldMesh(p pair, t tier) int {
	for _, i := range []int{p.a, p.b} {
		if t.shape == api.ShapeMesh && isOldMesh(s.nodes[i].MLX) {
			return i
		}
	}
	return -1
}

func isOldMesh(mlx api.ProgramMLX) bool {
	return mlx.Version != "" && olderThan(mlx.Version, meshCables)
}

// stopOfMLX is what keeps a program with such an MLX from a backend with so many cables
// of a pair, and a sentence with room for who has it; no reason where nothing does.
func stopOfMLX(mlx api.ProgramMLX, backend api.Backend, shape api.PlanShape, cables int) (reason api.Reason, what string) {
	needs, without := api.MLXBackendRing, api.ReasonBackendUnsupported
	if backend.RDMA() {
		needs, without = api.MLXBackendJACCL, api.ReasonJACCLMissing
	}
	switch {
	case shape == api.ShapeSingle:
	case mlx.Missing && backend.RDMA(): // over a ring, nobody has to join
		return api.ReasonProgramMLXMissing, noMLX
	case mlx.Backends != nil && !slices.Contains(mlx.Backends, needs):
		return without, "MLX on %s has no " + string(needs)
	case shape == api.ShapeMesh && cables > 1 && isOldMesh(mlx):
		return api.ReasonMLXTooOld, "MLX on %s is " + strings.ReplaceAll(mlx.Version, "%", "%%") + ", which uses one cable of a pair before " + meshCables
	case backend == api.BackendJACCLRing && mlx.Version != "" && olderThan(mlx.Version, ringAllGather):
		return api.ReasonMLXTooOld, "MLX on %s is " + strings.ReplaceAll(mlx.Version, "%", "%%") + ", whose all_gather over jaccl-ring is wrong before " + ringAllGather
	}
	return "", ""
}

const noMLX = "The program's Python finds no MLX on %s"

// Unfit says which MLX, as preflights found them for a person's own program, do not
// fit a plan, and what a person should know of those that do. That all are the same is
// not looked at: a preflight compares them, and more than them. name is what people
// call a node.
func Unfit(plan api.Plan, mlx map[api.NodeID]api.ProgramMLX, name func(api.NodeID) string) (faults, notes []api.Cause) {
	type stop struct {
		reason api.Reason
		what   string
	}
	var stops []stop
	var missing []api.NodeID
	on := map[stop][]api.NodeID{}
	for _, r := range plan.Ranks {
		found := mlx[r.Node]
		reason, what := stopOfMLX(found, plan.Backend, plan.Shape, plan.Cables())
		switch s := (stop{reason, what}); {
		case reason != "":
			if on[s] == nil {
				stops = append(stops, s)
			}
			on[s] = append(on[s], r.Node)
		case found.Missing:
			missing = append(missing, r.Node)
		}
	}
	for _, s := range stops {
		faults = append(faults, causeOn(s.reason, s.what, on[s], name))
	}
	if len(missing) > 0 {
		notes = append(notes, causeOn(api.ReasonProgramMLXMissing, noMLX, missing, name))
	}
	return faults, notes
}

// causeOn makes one cause of what holds on several nodes.
func causeOn(reason api.Reason, what string, nodes []api.NodeID, name func(api.NodeID) string) api.Cause {
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	called := make([]string, len(nodes))
	for i, n := range nodes {
		called[i] = name(n)
	}
	list := called[0]
	if last := len(called) - 1; last > 0 {
		list = strings.Join(called[:last], ", ") + " and " + called[last]
	}
	return api.Errorf(reason, string(nodes[0]), "%s.", fmt.Sprintf(what, list)).Cause()
}
