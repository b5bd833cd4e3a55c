package placement

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestUnfit(t *testing.T) {
	name := func(n api.NodeID) string { return "mac-" + string(n) }
	plan := func(b api.Backend, s api.PlanShape) api.Plan {
		return api.Plan{Backend: b, Shape: s, Ranks: []api.PlanRank{{Node: "a"}, {Node: "b"}}}
	}
	for _, c := range []struct {
		plan api.Plan
		mlx  map[api.NodeID]api.ProgramMLX
		want string
	}{
		{plan(api.BackendJACCLRing, api.ShapeRing), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.4"}, "b": {Version: "0.32.2"}}, "mac-b has MLX 0.32.2, whose all_gather over jaccl-ring is wrong before 0.32.4."},
		{plan(api.BackendJACCLRing, api.ShapeRing), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.4.dev1+abc"}, "b": {Version: "0.33.0"}}, "mac-a has MLX 0.32.4.dev1+abc, whose all_gather over jaccl-ring is wrong before 0.32.4."},
		{plan(api.BackendJACCLRing, api.ShapeRing), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.4"}, "b": {Version: "1.0"}}, ""},
		{plan(api.BackendJACCLRing, api.ShapeRing), nil, ""}, // nobody tells
		{plan(api.BackendJACCLRing, api.ShapeSingle), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.30"}}, ""},
		{plan(api.BackendJACCL, api.ShapeMesh), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.2"}}, ""},
		{plan(api.BackendRing, api.ShapeRing), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.2"}}, ""},
	} {
		is := is.New(t)
		got, _ := Unfit(c.plan, c.mlx, name)
		if c.want == "" {
			is.Equal(len(got), 0)
			continue
		}
		is.Equal(len(got), 1)
		is.Equal(got[0].Message, c.want)
		is.Equal(got[0].Reason, api.ReasonMLXTooOld)
		is.True(got[0].Remedy != "")
	}
}
