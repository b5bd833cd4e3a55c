package placement

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// id is a made-up node's.
func id(n int) api.NodeID { return deskIDs()[n] }

func ids(all ...int) []api.NodeID {
	var out []api.NodeID
	for _, n := range all {
		out = append(out, id(n))
	}
	return out
}

// evenly is a speed for every pair.
func evenly(gigabits int64) func(a, b int) int64 { return func(int, int) int64 { return gigabits } }

func nodesOf(p *api.Plan) []api.NodeID {
	var out []api.NodeID
	for _, r := range p.Ranks {
		out = append(out, r.Node)
	}
	return out
}

// Each case is four nodes of which every two are joined, with one change, and
// two ranks over jaccl.
func TestWhichNodes(t *testing.T) {
	asked := api.Placement{Ranks: 2, Backend: api.BackendJACCL, MemoryBytes: 10 << 30}
	for _, c := range []struct {
		name   string
		change func(d *desk, p *api.Placement)
		nodes  []api.NodeID
	}{
		{"alike: the lowest ids", func(*desk, *api.Placement) {}, ids(0, 1)},
		{"excluded", func(_ *desk, p *api.Placement) { p.ExcludedNodes = ids(0) }, ids(1, 2)},
		{"required", func(_ *desk, p *api.Placement) { p.Nodes = ids(3) }, ids(0, 3)},
		{"rank 0", func(_ *desk, p *api.Placement) { p.Rank0 = id(3) }, ids(3, 0)},
		{"a faster GPU", func(d *desk, _ *api.Placement) { d.nodes[2].FP16TFLOPS, d.nodes[3].FP16TFLOPS = new(21.0), new(21.0) }, ids(2, 3)},
		{"one faster GPU does not make the slowest faster", func(d *desk, _ *api.Placement) { d.nodes[3].FP16TFLOPS = new(99.0) }, ids(0, 1)},
		{"more free memory", func(d *desk, _ *api.Placement) {
			d.nodes[1].WorkingSetBytes, d.nodes[3].WorkingSetBytes = new(int64(101<<30)), new(int64(101<<30))
		}, ids(1, 3)},
		{"less is available than the working set", func(d *desk, _ *api.Placement) { d.nodes[1].AvailableBytes = new(int64(50 << 30)) }, ids(0, 2)},
		{"a faster link", func(d *desk, _ *api.Placement) { d.plug(2, 3, 120) }, ids(2, 3)},
		{"a link as fast but for noise", func(d *desk, _ *api.Placement) { d.plug(2, 3, 81) }, ids(0, 1)},
		{"a measured link that is slow", func(d *desk, _ *api.Placement) { d.wires[0].rdma = 20 }, ids(0, 2)},
		{"a link before a GPU", func(d *desk, _ *api.Placement) {
			d.plug(2, 3, 120)
			d.nodes[0].FP16TFLOPS, d.nodes[1].FP16TFLOPS = new(99.0), new(99.0)
		}, ids(2, 3)},
		{"not reached", func(d *desk, _ *api.Placement) { d.nodes[0].Reached = false }, ids(1, 2)},
		{"asleep", func(d *desk, _ *api.Placement) { d.nodes[0].State = api.SelfAsleep }, ids(1, 2)},
		{"not shared", func(d *desk, _ *api.Placement) { d.nodes[1].Refusal = api.ReasonJobsNotShared }, ids(0, 2)},
		{"memory is lent", func(d *desk, _ *api.Placement) { d.nodes[0].Lent = []Lent{{GPU: api.GPUNone, MemoryBytes: 95 << 30}} }, ids(1, 2)},
		{"memory for others is bounded", func(d *desk, _ *api.Placement) { d.nodes[0].OthersMaxBytes = new(int64(9 << 30)) }, ids(1, 2)},
		{"memory for others is lent", func(d *desk, _ *api.Placement) {
			d.nodes[0].OthersMaxBytes = new(int64(60 << 30))
			d.nodes[0].Lent = []Lent{{Principal: api.Principal{Node: id(1)}, GPU: api.GPUNone, MemoryBytes: 55 << 30}}
		}, ids(1, 2)},
		{"memory is lent to its own", func(d *desk, p *api.Placement) {
			d.nodes[0].OthersMaxBytes = new(int64(60 << 30))
			d.nodes[0].Lent = []Lent{{Principal: api.Principal{Node: id(0)}, GPU: api.GPUNone, MemoryBytes: 55 << 30}}
			p.Nodes = ids(0)
		}, ids(0, 1)},
		{"memory for others is not bounded for its own", func(d *desk, _ *api.Placement) {
			d.nodes[0].OthersMaxBytes, d.nodes[0].OwnPrincipal = new(int64(9<<30)), true
		}, ids(0, 1)},
		{"no working set is told", func(d *desk, _ *api.Placement) { d.nodes[0].WorkingSetBytes = nil }, ids(1, 2)},
		{"the GPU is lent", func(d *desk, _ *api.Placement) { d.nodes[0].Lent = []Lent{{GPU: api.GPUShared}} }, ids(1, 2)},
		{"the GPU is lent and can be shared", func(d *desk, p *api.Placement) {
			d.nodes[0].Lent = []Lent{{GPU: api.GPUShared}}
			p.GPU = api.GPUShared
		}, ids(0, 1)},
		{"a device is lent", func(d *desk, _ *api.Placement) {
			d.nodes[0].Lent = []Lent{{GPU: api.GPUNone, Receptacles: []api.Receptacle{1}}}
		}, ids(0, 2)},
		{"another version of MLX", func(d *desk, _ *api.Placement) { d.nodes[0].MLX.Version, d.nodes[1].MLX.Version = "0.32.4", "0.33.0" }, ids(0, 2)},
		{"no JACCL", func(d *desk, _ *api.Placement) { d.nodes[0].MLX.Backends = []api.MLXBackend{api.MLXBackendRing} }, ids(1, 2)},
		{"the fewest that will do", func(_ *desk, p *api.Placement) { p.Ranks, p.MinNodes, p.MaxNodes = 0, 2, 4 }, ids(0, 1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d, p := newDesk(4).meshed(evenly(80)), asked
			c.change(d, &p)
			r := Plan(d.input(p, nil))
			is.True(r.Plan != nil)
			is.Equal(nodesOf(r.Plan), c.nodes)
		})
	}
}

// Each case is two nodes with a cable, and one change that stops jaccl.
func TestFirstThingThatStops(t *testing.T) {
	asked := api.Placement{Ranks: 2, Backend: api.BackendJACCL, MemoryBytes: 10 << 30}
	for _, c := range []struct {
		change func(d *desk, p *api.Placement)
		reason api.Reason
		words  string
		final  bool
	}{
		{func(d *desk, _ *api.Placement) {
			d.nodes[1].State, d.nodes[1].StateReason = api.SelfAsleep, api.ReasonLidClosed
		}, api.ReasonLidClosed, "jaccl cannot join 2 ranks: mac-1 is asleep: its lid is closed", false},
		{func(d *desk, _ *api.Placement) { d.nodes[1].Reached = false }, api.ReasonNodeUnreachable, "jaccl cannot join 2 ranks: mac-1 does not answer", false},
		{func(d *desk, _ *api.Placement) { d.nodes[1].Refusal = api.ReasonPrincipalUnmapped }, api.ReasonPrincipalUnmapped,
			fmt.Sprintf("jaccl cannot join 2 ranks: mac-1 does not say as which account jobs of ada@%s run there", id(0)), false},
		{func(d *desk, _ *api.Placement) { d.nodes[1].WorkingSetBytes = new(int64(8 << 30)) }, api.ReasonNotEnoughMemory, "jaccl cannot join 2 ranks: mac-1 has a GPU working set of 8 GiB, a rank needs 10 GiB", false},
		{func(d *desk, _ *api.Placement) {
			d.nodes[1].Lent = []Lent{{Job: "j4k2m9xq7", GPU: api.GPUExclusive}}
		}, api.ReasonGPUBusy, "jaccl cannot join 2 ranks: mac-1 lends its GPU to job j4k2m9xq7", false},
		{func(d *desk, _ *api.Placement) {
			d.nodes[1].Lent = []Lent{{Job: "j4k2m9xq7", GPU: api.GPUNone, Receptacles: []api.Receptacle{1}}}
		}, api.ReasonRDMADeviceBusy, "jaccl cannot join 2 ranks: mac-0 <-> mac-1: the RDMA device of receptacle 1 of mac-1 is lent to job j4k2m9xq7", false},
		{func(d *desk, _ *api.Placement) { d.wires[0].gigabits = 40 }, api.ReasonLinkTooSlow, "jaccl cannot join 2 ranks: mac-0 <-> mac-1: receptacle 1 negotiated 40 Gb/s, RDMA needs more than 40", false},
		{func(d *desk, _ *api.Placement) { d.wires[0].ready = false }, api.ReasonRDMASwitchOff, "jaccl cannot join 2 ranks: mac-0 <-> mac-1: RDMA is switched off on mac-0", false},
		{func(d *desk, _ *api.Placement) { d.wires = nil }, api.ReasonNotConnected, "jaccl cannot join 2 ranks: mac-0 <-> mac-1: no cable joins them", false},
		{func(d *desk, _ *api.Placement) { d.nodes[0].MLX.Version, d.nodes[1].MLX.Version = "0.33.0", "0.32.4" }, api.ReasonMLXVersionsDiffer, "jaccl cannot join 2 ranks: mac-1 has MLX 0.32.4, mac-0 has 0.33.0", false},
		{func(d *desk, p *api.Placement) {
			d.nodes[0].MLX.Version, d.nodes[1].MLX.Version, p.Backend = "0.32.2", "0.32.2", api.BackendJACCLRing
		}, api.ReasonMLXTooOld, "jaccl-ring cannot join 2 ranks: mac-0 has MLX 0.32.2, whose all_gather over jaccl-ring is wrong before 0.32.4", false},
		{func(d *desk, _ *api.Placement) { d.nodes[1].MLX.Backends = []api.MLXBackend{api.MLXBackendRing} }, api.ReasonJACCLMissing, "jaccl cannot join 2 ranks: MLX on mac-1 has no jaccl", false},
		{func(_ *desk, p *api.Placement) { p.Ranks = 3 }, api.ReasonNotEnoughNodes, "jaccl cannot join 2 ranks: 3 nodes are wanted, and there are 2", false},
		{func(_ *desk, p *api.Placement) { p.Ranks = 9 }, api.ReasonTooManyRanks, "jaccl joins at most 8 ranks, not 9", true},
		{func(_ *desk, p *api.Placement) { p.Nodes, p.ExcludedNodes = ids(1), ids(1) }, api.ReasonSpecConflict, id(1).Display() + " is both required and excluded", true},
		{func(_ *desk, p *api.Placement) { p.Ranks, p.Nodes, p.Rank0 = 1, ids(1), id(0) }, api.ReasonSpecConflict, "2 nodes must be used, but at most 1 are wanted", true},
		{func(_ *desk, p *api.Placement) { p.Ranks, p.MinNodes, p.MaxNodes = 0, 3, 2 }, api.ReasonSpecConflict, "at least 3 nodes and at most 2 cannot be", true},
		{func(_ *desk, p *api.Placement) { p.Nodes = ids(9) }, api.ReasonNoSuchNode, id(9).Display() + " must be used, and no such member is known", false},
	} {
		t.Run(string(c.reason), func(t *testing.T) {
			is := is.New(t)
			d, p := newDesk(2).plug(0, 1, 80), asked
			c.change(d, &p)
			r := Plan(d.input(p, nil))
			is.True(r.Plan == nil)
			is.True(errors.Is(r.Err(), c.reason))
			is.Equal(r.Err().Message, c.words)
			is.Equal(r.Final, c.final)
		})
	}
}

// Several cables between two are all used where that is faster, matched end to end.
func TestSeveralCables(t *testing.T) {
	is := is.New(t)
	d := newDesk(2).plug(0, 1, 80).plug(0, 1, 80).plug(0, 1, 20)
	r := Plan(d.input(api.Placement{Ranks: 2, Backend: api.BackendJACCLRing}, nil))
	is.Equal(r.Plan.Devices, [][][]string{{nil, {"rdma_en3", "rdma_en4"}}, {{"rdma_en3", "rdma_en4"}, nil}})
	is.Equal(r.Plan.Ranks[1].Receptacles, []api.Receptacle{1, 2})
	r = Plan(d.input(api.Placement{Ranks: 2, Backend: api.BackendRing}, nil))
	is.Equal(r.Plan.Hosts, [][]string{{"169.254.1.1", "169.254.1.2"}, {"169.254.2.1", "169.254.2.2"}}) // a third would slow both
	is.True(!r.Plan.Unencrypted)
}

// A network is used only where it is named or trusted, and the plan says so.
func TestNetworks(t *testing.T) {
	is := is.New(t)
	d := newDesk(2)
	asked := api.Placement{Ranks: 2, Backend: api.BackendRing}
	r := Plan(d.input(asked, nil))
	is.True(errors.Is(r.Err(), api.ReasonNetworkNotTrusted))
	is.Equal(r.Err().Data.Remedy, "Allow unencrypted traffic over 192.168.7.0/24 (ethernet) with --network 192.168.7.0/24.")
	for _, name := range []string{"en0", "192.168.0.0/16"} {
		named := asked
		named.Networks = []string{name}
		r = Plan(d.input(named, nil))
		is.Equal(r.Plan.Hosts, [][]string{{"192.168.7.1"}, {"192.168.7.2"}})
		is.True(r.Plan.Unencrypted)
		is.Equal(r.Plan.Notes[0].Message, "unencrypted: mac-0 and mac-1 talk over en0 (ethernet)")
	}
	in := d.input(asked, nil)
	in.Trusted = append(in.Trusted, lanPrefix(0).Masked())
	is.True(Plan(in).Plan.Unencrypted)
	named := asked
	named.Networks = []string{"en7", "10.0.0.0/8"}
	is.True(Plan(d.input(named, nil)).Plan == nil)
	named.Networks = []string{"en0"} // Thunderbolt comes first all the same
	r = Plan(d.plug(0, 1, 20).input(named, nil))
	is.Equal(r.Plan.Hosts, [][]string{{"169.254.1.1"}, {"169.254.2.1"}})
	is.True(!r.Plan.Unencrypted)
}

// Above sixteen nodes a plan is valid and not proven best.
func TestManyNodes(t *testing.T) {
	ring := newDesk(32)
	for i := range ring.nodes {
		ring.plug(min(i, (i+1)%32), max(i, (i+1)%32), 80)
	}
	torus := newDesk(32)
	for i := range torus.nodes {
		for _, j := range []int{i/4*4 + (i+1)%4, (i + 4) % 32} {
			torus.plug(min(i, j), max(i, j), 80)
		}
	}
	mesh := newDesk(24).meshed(func(a, b int) int64 { return 41 + int64(a*b%40) })
	for _, c := range []struct {
		name string
		d    *desk
		p    api.Placement
	}{
		{"ring", ring, api.Placement{Ranks: 32, Backend: api.BackendJACCLRing}},
		{"ring with rank 0", ring, api.Placement{Ranks: 32, Backend: api.BackendRing, Rank0: id(17)}},
		{"torus", torus, api.Placement{Ranks: 32, Backend: api.BackendAuto}},
		{"part of a torus", torus, api.Placement{Ranks: 18, Backend: api.BackendJACCLRing, Nodes: ids(3, 9)}},
		{"mesh", mesh, api.Placement{Ranks: 8, Backend: api.BackendJACCL, Nodes: ids(20)}},
		{"two of many", mesh, api.Placement{Ranks: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			in := c.d.input(c.p, nil)
			r := Plan(in)
			is.True(r.Plan != nil)
			is.NoErr(checkPlan(in, r.Plan))
			is.True(!r.Plan.ProvenBest)
		})
	}
}

// Rank 0 is the node that is named, or that most others can dial; of equals the
// submitter's, and without it the lowest id.
func TestRankZero(t *testing.T) {
	lost := func(from, to int) func(*Input) {
		return func(in *Input) {
			in.Graph.Paths = slices.DeleteFunc(in.Graph.Paths, func(p topology.Path) bool { return p.From == id(from) && p.To == id(to) })
		}
	}
	of := func(i int) func(*Input) {
		return func(in *Input) { in.Spec.Principal.Node = id(i) }
	}
	for _, c := range []struct {
		name   string
		p      api.Placement
		change []func(*Input)
		want   []api.NodeID
	}{
		{"all dial all: the submitter's", api.Placement{Ranks: 3}, []func(*Input){of(2)}, ids(2, 0, 1)},
		{"of the lowest id", api.Placement{Ranks: 3}, []func(*Input){of(0)}, ids(0, 1, 2)},
		{"a mesh", api.Placement{Ranks: 3, Backend: api.BackendJACCL}, []func(*Input){of(1)}, ids(1, 0, 2)},
		{"two", api.Placement{Ranks: 2, ExcludedNodes: ids(1)}, []func(*Input){of(2)}, ids(2, 0)},
		{"one reaches the submitter's less", api.Placement{Ranks: 3}, []func(*Input){of(2), lost(0, 2)}, ids(0, 1, 2)},
		{"of the two that more dial", api.Placement{Ranks: 3}, []func(*Input){of(2), lost(1, 0)}, ids(2, 0, 1)},
		{"without the submitter's the most dialled", api.Placement{Ranks: 3}, []func(*Input){of(9), lost(2, 0)}, ids(1, 0, 2)},
		{"named", api.Placement{Ranks: 3, Rank0: id(1)}, []func(*Input){of(2)}, ids(1, 0, 2)},
		{"the submitter's is left out", api.Placement{Ranks: 2, ExcludedNodes: ids(2)}, []func(*Input){of(2)}, ids(0, 1)},
		{"the submitter's is not needed", api.Placement{Ranks: 2}, []func(*Input){of(2)}, ids(0, 1)},
		{"the submitter's is no member", api.Placement{Ranks: 3}, []func(*Input){of(9)}, ids(0, 1, 2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d := newDesk(3)
			d.lan = []bool{false, false, false}
			if c.p.Backend == "" {
				c.p.Backend = api.BackendRing
			}
			in := d.plug(0, 1, 80).plug(0, 2, 80).plug(1, 2, 80).input(c.p, nil)
			for _, f := range c.change {
				f(&in)
			}
			is.Equal(nodesOf(Plan(in).Plan), c.want)
		})
	}
}

// One rank runs where the GPU is fastest, and talks to nobody.
func TestSingle(t *testing.T) {
	is := is.New(t)
	d := newDesk(3)
	d.nodes[1].FP16TFLOPS = new(30.0)
	p := Plan(d.input(api.Placement{}, nil)).Plan
	is.Equal(nodesOf(p), ids(1))
	is.Equal(p.Shape, api.ShapeSingle)
	is.Equal(p.Backend, api.BackendRing)
	is.True(p.Hosts == nil && p.Devices == nil && p.ProvenBest)
	r := Plan(d.input(api.Placement{Ranks: 1, MemoryBytes: 1 << 40}, nil))
	is.True(errors.Is(r.Err(), api.ReasonNotEnoughMemory))
	is.Equal(r.Err().Data.Remedy, "Ask for at most 100 GiB a rank.")
}

// Versions that differ can be allowed.
func TestAllowMixed(t *testing.T) {
	is := is.New(t)
	d := newDesk(2).plug(0, 1, 80)
	d.nodes[0].MLX.Version, d.nodes[1].MLX.Version = "0.33.0", "0.32.4"
	in := d.input(api.Placement{Ranks: 2, Backend: api.BackendJACCL}, nil)
	is.Equal(Plan(in).Err().Data.Remedy, "Install the same version of MLX everywhere, or pass --allow-mixed.")
	in.Brief = true
	is.Equal(len(Plan(in).Remedies), 0)
	in.Spec.AllowMixed = true
	is.True(Plan(in).Plan != nil)
}
