package placement

import (
	"slices"

	"fulmen/daemon/api"
)

// Unfit says which versions of MLX, as a preflight found them for a person's own
// program, do not fit a plan. That all are the same is not looked at: a preflight
// compares them, and more than them. name is what people call a node.
func Unfit(plan api.Plan, mlx map[api.NodeID]string, name func(api.NodeID) string) []api.Cause {
	var out []api.Cause
	if plan.Backend != api.BackendJACCLRing || plan.Shape != api.ShapeRing {
		return nil
	}
	for _, r := range plan.Ranks {
		v := mlx[r.Node]
		if v == "" || !olderThan(v, ringAllGather) || slices.ContainsFunc(out, func(c api.Cause) bool { return c.Subject == string(r.Node) }) {
			continue
		}
		out = append(out, tooOld(r.Node, name(r.Node), v))
	}
	return out
}

// tooOld says that an MLX computes wrongly over jaccl-ring.
func tooOld(id api.NodeID, name, version string) api.Cause {
	return causeOf(api.ReasonMLXTooOld, string(id), "%s has MLX %s, whose all_gather over jaccl-ring is wrong before %s", name, version, ringAllGather)
}
