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
	wide := plan(api.BackendJACCL, api.ShapeMesh)
	wide.Devices = [][][]string{{nil, {"rdma_en3", "rdma_en4"}}, {{"rdma_en3", "rdma_en4"}, nil}}
	for _, c := range []struct {
		plan api.Plan
		mlx  map[api.NodeID]api.ProgramMLX
		want string
	}{
		{wide, map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.4"}, "b": {Version: "0.32.2"}}, "MLX on mac-b is 0.32.2, which uses one cable of a pair before 0.32.4."},
		{wide, map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.4"}, "b": {Version: "0.33.0"}}, ""},
		{plan(api.BackendJACCLRing, api.ShapeRing), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.4"}, "b": {Version: "0.32.2"}}, "MLX on mac-b is 0.32.2, whose all_gather over jaccl-ring is wrong before 0.32.4."},
		{plan(api.BackendJACCLRing, api.ShapeRing), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.4.dev1+abc"}, "b": {Version: "0.33.0"}}, "MLX on mac-a is 0.32.4.dev1+abc, whose all_gather over jaccl-ring is wrong before 0.32.4."},
		{plan(api.BackendJACCLRing, api.ShapeRing), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.4"}, "b": {Version: "1.0"}}, ""},
		{plan(api.BackendJACCLRing, api.ShapeRing), nil, ""}, // nobody tells
		{plan(api.BackendJACCLRing, api.ShapeSingle), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.30"}}, ""},
		{plan(api.BackendJACCL, api.ShapeMesh), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.2"}}, ""},
		{plan(api.BackendRing, api.ShapeRing), map[api.NodeID]api.ProgramMLX{"a": {Version: "0.32.2"}}, ""},
		{plan(api.BackendJACCLRing, api.ShapeRing), map[api.NodeID]api.ProgramMLX{"b": {Version: "0.32.2"}, "a": {Version: "0.32.2"}}, "MLX on mac-a and mac-b is 0.32.2, whose all_gather over jaccl-ring is wrong before 0.32.4."},
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

// A program that finds no MLX cannot use RDMA, and over a ring it is worth a note;
// what holds on several nodes is said once.
func TestUnfitWithoutMLX(t *testing.T) {
	name := func(n api.NodeID) string { return "mac-" + string(n) }
	ranks := []api.PlanRank{{Node: "c"}, {Node: "b"}, {Node: "a"}}
	missing := map[api.NodeID]api.ProgramMLX{"a": {Missing: true}, "c": {Missing: true}, "b": {Backends: []api.MLXBackend{api.MLXBackendJACCL}}}
	for _, c := range []struct {
		plan          api.Plan
		faults, notes []string
	}{
		{api.Plan{Backend: api.BackendJACCL, Shape: api.ShapeMesh, Ranks: ranks}, []string{"The program's Python finds no MLX on mac-a and mac-c."}, nil},
		{api.Plan{Backend: api.BackendRing, Shape: api.ShapeRing, Ranks: ranks}, []string{"MLX on mac-b has no ring."}, []string{"The program's Python finds no MLX on mac-a and mac-c."}},
		{api.Plan{Backend: api.BackendRing, Shape: api.ShapeSingle, Ranks: ranks[:1]}, nil, []string{"The program's Python finds no MLX on mac-c."}},
	} {
		is := is.New(t)
		faults, notes := Unfit(c.plan, missing, name)
		is.Equal(messages(faults), c.faults)
		is.Equal(messages(notes), c.notes)
	}
	faults, _ := Unfit(api.Plan{Backend: api.BackendRing, Shape: api.ShapeRing, Ranks: ranks}, missing, name)
	is.New(t).Equal(faults[0].Reason, api.ReasonBackendUnsupported)
	is.New(t).Equal(causeOn(api.ReasonMLXTooOld, "old on %s", []api.NodeID{"c", "a", "b", "a"}, name).Message, "old on mac-a, mac-b and mac-c.")
}
