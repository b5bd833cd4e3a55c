package placement

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology"
)

// id is a made-up node's.
func id(n int) api.NodeID { return scenarioIDs()[n] }

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
		change func(d *scenario, p *api.Placement)
		nodes  []api.NodeID
	}{
		{"alike: the lowest ids", func(*scenario, *api.Placement) {}, ids(0, 1)},
		{"excluded", func(_ *scenario, p *api.Placement) { p.ExcludedNodes = ids(0) }, ids(1, 2)},
		{"required", func(_ *scenario, p *api.Placement) { p.Nodes = ids(3) }, ids(0, 3)},
		{"rank 0", func(_ *scenario, p *api.Placement) { p.Rank0 = id(3) }, ids(3, 0)},
		{"a faster GPU", func(d *scenario, _ *api.Placement) {
			d.nodes[2].FP16TFLOPS, d.nodes[3].FP16TFLOPS = new(21.0), new(21.0)
		}, ids(2, 3)},
		{"one faster GPU does not make the slowest faster", func(d *scenario, _ *api.Placement) { d.nodes[3].FP16TFLOPS = new(99.0) }, ids(0, 1)},
		{"more free memory", func(d *scenario, _ *api.Placement) {
			d.nodes[1].WorkingSetBytes, d.nodes[3].WorkingSetBytes = new(int64(101<<30)), new(int64(101<<30))
		}, ids(1, 3)},
		{"less is available than the working set", func(d *scenario, _ *api.Placement) { d.nodes[1].AvailableBytes = new(int64(50 << 30)) }, ids(0, 2)},
		{"rank 0 is one of those that are named", func(_ *scenario, p *api.Placement) { p.Nodes, p.Rank0 = append(ids(3), ids(0)...), id(3) }, ids(3, 0)},
		{"a faster link", func(d *scenario, _ *api.Placement) { d.plug(2, 3, 120) }, ids(2, 3)},
		{"a link as fast but for noise", func(d *scenario, _ *api.Placement) { d.wires[5].gigabits = 81 }, ids(0, 1)},
		{"a measured link that is slow", func(d *scenario, _ *api.Placement) { d.wires[0].rdma = 20 }, ids(0, 2)},
		{"a link before a GPU", func(d *scenario, _ *api.Placement) {
			d.plug(2, 3, 120)
			d.nodes[0].FP16TFLOPS, d.nodes[1].FP16TFLOPS = new(99.0), new(99.0)
		}, ids(2, 3)},
		{"not reached", func(d *scenario, _ *api.Placement) { d.nodes[0].Reached = false }, ids(1, 2)},
		{"asleep", func(d *scenario, _ *api.Placement) { d.nodes[0].State = api.SelfAsleep }, ids(1, 2)},
		{"not shared", func(d *scenario, _ *api.Placement) { d.nodes[1].Refusal = api.ReasonJobsNotShared }, ids(0, 2)},
		{"memory is lent", func(d *scenario, _ *api.Placement) {
			d.nodes[0].Lent = []Lent{{GPU: api.GPUNone, MemoryBytes: 95 << 30}}
		}, ids(1, 2)},
		{"memory for others is bounded", func(d *scenario, _ *api.Placement) { d.nodes[0].OthersMaxBytes = new(int64(9 << 30)) }, ids(1, 2)},
		{"memory for others is lent", func(d *scenario, _ *api.Placement) {
			d.nodes[0].OthersMaxBytes = new(int64(60 << 30))
			d.nodes[0].Lent = []Lent{{Principal: api.Principal{Node: id(1)}, GPU: api.GPUNone, MemoryBytes: 55 << 30}}
		}, ids(1, 2)},
		{"memory is lent to its own", func(d *scenario, p *api.Placement) {
			d.nodes[0].OthersMaxBytes = new(int64(60 << 30))
			d.nodes[0].Lent = []Lent{{Principal: api.Principal{Node: id(0)}, GPU: api.GPUNone, MemoryBytes: 55 << 30}}
			p.Nodes = ids(0)
		}, ids(0, 1)},
		{"memory for others is not bounded for its own", func(d *scenario, _ *api.Placement) {
			d.nodes[0].OthersMaxBytes, d.nodes[0].OwnPrincipal = new(int64(9<<30)), true
		}, ids(0, 1)},
		{"no working set is told", func(d *scenario, _ *api.Placement) { d.nodes[0].WorkingSetBytes = nil }, ids(1, 2)},
		{"the GPU is lent", func(d *scenario, _ *api.Placement) { d.nodes[0].Lent = []Lent{{GPU: api.GPUShared}} }, ids(1, 2)},
		{"the GPU is lent and can be shared", func(d *scenario, p *api.Placement) {
			d.nodes[0].Lent = []Lent{{GPU: api.GPUShared}}
			p.GPU = api.GPUShared
		}, ids(0, 1)},
		{"a device is lent", func(d *scenario, _ *api.Placement) {
			d.nodes[0].Lent = []Lent{{GPU: api.GPUNone, PortNumbers: []api.PortNumber{1}}}
		}, ids(0, 2)},
		{"another version of MLX", func(d *scenario, _ *api.Placement) {
			d.nodes[0].MLX.Version, d.nodes[1].MLX.Version = "0.32.4", "0.33.0"
		}, ids(0, 2)},
		{"no JACCL", func(d *scenario, _ *api.Placement) { d.nodes[0].MLX.Backends = []api.MLXBackend{api.MLXBackendRing} }, ids(1, 2)},
		{"the fewest that will do", func(_ *scenario, p *api.Placement) { p.Ranks, p.MinNodes, p.MaxNodes = 0, 2, 4 }, ids(0, 1)},
		{"as many as fit", func(_ *scenario, p *api.Placement) { p.Ranks, p.MinNodes, p.MaxNodes, p.Widest = 0, 2, 4, true }, ids(0, 1, 2, 3)},
		{"as many as fit, of a few", func(_ *scenario, p *api.Placement) { p.Ranks, p.MaxNodes, p.Widest = 0, 3, true }, ids(0, 1, 2)},
		{"as many as fit where one does not", func(d *scenario, p *api.Placement) {
			d.nodes[2].WorkingSetBytes = new(int64(5 << 30))
			p.Ranks, p.MinNodes, p.Widest = 0, 2, true
		}, ids(0, 1, 3)},
		{"as many as fit is one", func(d *scenario, p *api.Placement) {
			for i := range 3 {
				d.nodes[i].State = api.SelfAsleep
			}
			p.Ranks, p.Widest = 0, true
		}, ids(3)},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d, p := newScenario(4).meshed(evenly(80)), asked
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
		change func(d *scenario, p *api.Placement)
		reason api.Reason
		words  string
		final  bool
	}{
		{func(d *scenario, _ *api.Placement) {
			d.nodes[1].State, d.nodes[1].StateReason = api.SelfAsleep, api.ReasonLidClosed
		}, api.ReasonLidClosed, "jaccl cannot join 2 ranks: mac-1 is asleep: its lid is closed", false},
		{func(d *scenario, _ *api.Placement) { d.nodes[1].Reached = false }, api.ReasonNodeUnreachable, "jaccl cannot join 2 ranks: mac-1 does not answer", false},
		{func(d *scenario, _ *api.Placement) { d.nodes[1].Refusal = api.ReasonPrincipalUnmapped }, api.ReasonPrincipalUnmapped,
			fmt.Sprintf("jaccl cannot join 2 ranks: mac-1 has no account chosen for jobs of ada@%s", id(0)), false},
		{func(d *scenario, _ *api.Placement) { d.nodes[1].WorkingSetBytes = new(int64(8 << 30)) }, api.ReasonNotEnoughMemory, "jaccl cannot join 2 ranks: mac-1 has 8 GiB of GPU memory, and a rank needs 10 GiB", false},
		{func(d *scenario, _ *api.Placement) {
			d.nodes[1].Lent = []Lent{{Job: "j4k2m9xq7", GPU: api.GPUNone, MemoryBytes: 95 << 30}}
		}, api.ReasonNotEnoughMemory, "jaccl cannot join 2 ranks: mac-1 has 5 GiB of GPU memory left to lend, and a rank needs 10 GiB", false},
		{func(d *scenario, _ *api.Placement) {
			d.nodes[1].GPUMemory, d.nodes[1].WorkingSetBytes = api.GPUMemoryUnified, new(int64(8<<30))
		}, api.ReasonNotEnoughMemory, "jaccl cannot join 2 ranks: mac-1 has 8 GiB of unified memory for its GPU, and a rank needs 10 GiB", false},
		{func(d *scenario, _ *api.Placement) {
			d.nodes[1].GPUMemory, d.nodes[1].WorkingSetBytes = api.GPUMemoryNone, new(int64(8<<30))
		}, api.ReasonNotEnoughMemory, "jaccl cannot join 2 ranks: mac-1 has 8 GiB of RAM, and a rank needs 10 GiB", false},
		{func(d *scenario, _ *api.Placement) {
			d.nodes[1].GPUMemory, d.nodes[1].WorkingSetBytes = api.GPUMemoryDedicated, new(int64(8<<30))
		}, api.ReasonNotEnoughMemory, "jaccl cannot join 2 ranks: mac-1 has 8 GiB of GPU memory, and a rank needs 10 GiB", false},
		{func(d *scenario, _ *api.Placement) {
			d.nodes[1].Lent = []Lent{{Job: "j4k2m9xq7", GPU: api.GPUExclusive}}
		}, api.ReasonGPUBusy, "jaccl cannot join 2 ranks: mac-1 lends its GPU to job j4k2m9xq7", false},
		{func(d *scenario, _ *api.Placement) {
			d.nodes[1].Lent = []Lent{{Job: "j4k2m9xq7", GPU: api.GPUNone, PortNumbers: []api.PortNumber{1}}}
		}, api.ReasonRDMADeviceBusy, "jaccl cannot join 2 ranks: mac-0 <-> mac-1: the RDMA device of port 1 of mac-1 is lent to job j4k2m9xq7", false},
		{func(d *scenario, _ *api.Placement) { d.wires[0].gigabits = 40 }, api.ReasonLinkTooSlow, "jaccl cannot join 2 ranks: mac-0 <-> mac-1: port 1 runs at 40 Gb/s, and RDMA needs more than 40", false},
		{func(d *scenario, _ *api.Placement) { d.wires[0].ready = false }, api.ReasonRDMASwitchOff, "jaccl cannot join 2 ranks: mac-0 <-> mac-1: RDMA is switched off on mac-0", false},
		{func(d *scenario, _ *api.Placement) { d.wires = nil }, api.ReasonNotConnected, "jaccl cannot join 2 ranks: mac-0 <-> mac-1: no cable joins them", false},
		{func(d *scenario, _ *api.Placement) {
			d.nodes[0].MLX.Version, d.nodes[1].MLX.Version = "0.33.0", "0.32.4"
		}, api.ReasonMLXVersionsDiffer, "jaccl cannot join 2 ranks: mac-1 has MLX 0.32.4, mac-0 has 0.33.0", false},
		{func(d *scenario, p *api.Placement) {
			d.nodes[0].MLX.Version, d.nodes[1].MLX.Version, p.Backend = "0.32.2", "0.32.2", api.BackendJACCLRing
		}, api.ReasonMLXTooOld, "jaccl-ring cannot join 2 ranks: MLX on mac-0 is 0.32.2, whose all_gather over jaccl-ring is wrong before 0.32.4", false},
		{func(d *scenario, _ *api.Placement) { d.nodes[1].MLX.Backends = []api.MLXBackend{api.MLXBackendRing} }, api.ReasonJACCLMissing, "jaccl cannot join 2 ranks: MLX on mac-1 has no jaccl", false},
		{func(_ *scenario, p *api.Placement) { p.Ranks = 3 }, api.ReasonNotEnoughNodes, "3 nodes are needed, and there are 2", false},
		{func(_ *scenario, p *api.Placement) { p.Ranks = 9 }, api.ReasonTooManyRanks, "jaccl joins at most 8 ranks, not 9", true},
		{func(_ *scenario, p *api.Placement) { p.Nodes, p.ExcludedNodes = ids(1), ids(1) }, api.ReasonSpecConflict, id(1).Display() + " is both required and excluded", true},
		{func(_ *scenario, p *api.Placement) { p.Ranks, p.Nodes, p.Rank0 = 1, ids(1), id(0) }, api.ReasonSpecConflict, "2 nodes must be used, but at most 1 are wanted", true},
		{func(_ *scenario, p *api.Placement) { p.Ranks, p.MinNodes, p.MaxNodes = 0, 3, 2 }, api.ReasonSpecConflict, "at least 3 and at most 2 nodes is not possible", true},
		{func(_ *scenario, p *api.Placement) { p.Nodes = ids(9) }, api.ReasonNoSuchNode, id(9).Display() + " must be used, but no such member is known", false},
	} {
		t.Run(c.words, func(t *testing.T) {
			is := is.New(t)
			d, p := newScenario(2).plug(0, 1, 80), asked
			c.change(d, &p)
			r := Plan(d.input(p, nil))
			is.True(r.Plan == nil)
			is.True(errors.Is(r.Err(), c.reason))
			is.Equal(r.Err().Message, c.words)
			is.Equal(r.Final, c.final)
		})
	}
}

// A way is over Thunderbolt, and so needs nobody's trust, only where both ends say so.
func TestAWayIsThunderboltAtBothEnds(t *testing.T) {
	is := is.New(t)
	d := newScenario(2)
	s := &state{nodes: []*Node{&d.nodes[0], &d.nodes[1]}}
	over := func(kinds ...api.LinkKind) bool {
		ways := map[wayKey]*bundle{}
		for from, kind := range kinds {
			s.take(ways, &topology.Path{From: id(from), To: id(1 - from), Kind: kind, Interface: "en2", PeerInterface: "en2"}, from, 1-from)
		}
		is.Equal(len(ways), 1)
		for _, w := range ways {
			return w.thunderbolt
		}
		return false
	}
	is.True(over(api.LinkTB5, api.LinkTB5))
	is.True(!over(api.LinkTB5, api.LinkEthernet))
	is.True(!over(api.LinkEthernet, api.LinkTB5))
}

// The kind of a network comes first, then the addresses of a LAN, unless a later one was
// measured to be more than twice as fast, which is then written down.
func TestAnEdgeOverANetwork(t *testing.T) {
	p := pairOf(0, 1)
	d := newScenario(2)
	at := func(text string) [2]netip.Addr {
		a := netip.MustParseAddr(text)
		return [2]netip.Addr{a, a.Next()}
	}
	over := func(kind api.LinkKind, address string, gigabits int64, measured bool) *way {
		return &way{channel: channel{kind: kind, addresses: at(address), network: "en0", speed: speed{bits: gigabits * gigabit, measured: measured}}, thunderbolt: kind == api.LinkTB4}
	}
	cable := over(api.LinkTB4, "169.254.1.1", 20, true)
	for _, c := range []struct {
		name        string
		first, next *way
		passed      bool
	}{
		{"a cable before a network", cable, over(api.LinkEthernet, "192.168.1.1", 40, true), false},
		{"unless twice as fast", cable, over(api.LinkEthernet, "192.168.1.1", 41, true), true},
		{"as measured", cable, over(api.LinkEthernet, "192.168.1.1", 100, false), false},
		{"Ethernet before Wi-Fi", over(api.LinkEthernet, "100.64.0.1", 1, false), over(api.LinkWiFi, "10.0.0.1", 2, true), false},
		{"unless Wi-Fi is faster", over(api.LinkEthernet, "192.168.1.1", 1, true), over(api.LinkWiFi, "10.0.0.1", 3, true), true},
		{"a speed that is not known is not passed", over(api.LinkEthernet, "192.168.1.1", 0, false), over(api.LinkWiFi, "10.0.0.1", 3, true), false},
		{"Wi-Fi before what is not known", over(api.LinkWiFi, "203.0.113.1", 0, false), over(api.LinkUnknown, "10.0.0.1", 1, false), false},
		{"and a tunnel last", over(api.LinkUnknown, "203.0.113.1", 0, false), over(api.LinkVPN, "10.0.0.1", 1, false), false},
		{"LAN before Tailscale", over(api.LinkWiFi, "192.168.1.1", 0, false), over(api.LinkVPN, "100.64.0.1", 1, false), false},
		{"private before self-assigned", over(api.LinkEthernet, "172.16.0.1", 1, true), over(api.LinkEthernet, "169.254.1.1", 2, true), false},
		{"self-assigned before public", over(api.LinkEthernet, "169.254.0.1", 1, true), over(api.LinkEthernet, "8.8.8.8", 2, true), false},
		{"public before shared", over(api.LinkEthernet, "203.0.113.1", 1, true), over(api.LinkEthernet, "100.64.0.1", 2, true), false},
		{"the faster of alike", over(api.LinkEthernet, "192.168.2.1", 10, false), over(api.LinkEthernet, "192.168.1.1", 1, true), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			for _, ways := range [][]*way{{c.first, c.next}, {c.next, c.first}} {
				slices.SortFunc(ways, compareWays)
				s := &state{permits: topology.Permit([]string{"0.0.0.0/0"}, nil), nodes: []*Node{&d.nodes[0], &d.nodes[1]}, ways: map[pair][]*way{p: ways}, sockets: map[socketKey][]channel{}}
				edge, found := s.edge(p, tier{backend: api.BackendRing, networks: true}, 1)
				is.True(found)
				want := c.first
				if c.passed {
					want = c.next
				}
				is.Equal(edge[0].addresses, want.addresses)
				is.Equal(len(edge[0].notes) == 1 && edge[0].notes[0].Reason == api.ReasonNetworkFaster, c.passed)
				_, found = s.edge(p, tier{backend: api.BackendRing}, 1)
				is.Equal(found, want.thunderbolt) // a cable alone is not taken where a network comes first
			}
		})
	}
}

func messages(all []api.Cause) []string {
	var out []string
	for _, c := range all {
		out = append(out, c.Message)
	}
	return out
}

// Each case is two nodes with a cable, one change that stops jaccl, and what would help,
// the least first.
func TestWhatHelps(t *testing.T) {
	asked := api.Placement{Ranks: 2, Backend: api.BackendJACCL, MemoryBytes: 10 << 30}
	for _, c := range []struct {
		name   string
		change func(d *scenario, p *api.Placement)
		want   []string
	}{
		{"asleep", func(d *scenario, p *api.Placement) { d.nodes[1].State = api.SelfAsleep }, []string{"mac-1 is asleep. Wake it. To keep it awake from now on, run there: `fulmen sharing set keep_awake=true`."}},
		{"stopping", func(d *scenario, p *api.Placement) { d.nodes[1].State = api.SelfStopping }, []string{"mac-1 is ending its daemon"}},
		{"restarting", func(d *scenario, p *api.Placement) { d.nodes[1].State = api.SelfRestarting }, []string{"mac-1 restarts. Enter the password there."}},
		{"left", func(d *scenario, p *api.Placement) { d.nodes[1].State = api.SelfLeft }, nil},
		{"not reached", func(d *scenario, p *api.Placement) { d.nodes[1].Reached = false }, []string{"mac-1 does not answer. Check that it is on, awake and connected."}},
		{"not shared", func(d *scenario, p *api.Placement) { d.nodes[1].Refusal = api.ReasonJobsNotShared }, []string{"mac-1 does not accept jobs of ada@" + string(id(0)) + ". Allow it there: `fulmen sharing set jobs=mapped`."}},
		{"on battery", func(d *scenario, p *api.Placement) { d.nodes[1].Refusal = api.ReasonOnBattery }, []string{"mac-1 accepts jobs on power only, and runs on battery. Connect power."}},
		{"in use", func(d *scenario, p *api.Placement) { d.nodes[1].Refusal = api.ReasonNotIdle }, []string{"mac-1 accepts jobs only when nobody uses it"}},
		{"small", func(d *scenario, p *api.Placement) { d.nodes[1].WorkingSetBytes = new(int64(8 << 30)) }, []string{"Ask for at most 8 GiB a rank."}},
		{"small, each in its way", func(d *scenario, p *api.Placement) {
			d.nodes[0].WorkingSetBytes, d.nodes[1].WorkingSetBytes = new(int64(9<<30)), new(int64(8<<30))
		}, []string{"Ask for at most 8 GiB a rank."}},
		{"no working set is told", func(d *scenario, p *api.Placement) { d.nodes[1].WorkingSetBytes = nil }, nil},
		{"lent", func(d *scenario, p *api.Placement) {
			d.nodes[1].Lent = []Lent{{Job: "j00000002", GPU: api.GPUExclusive}}
		}, []string{"mac-1 lends its GPU to job j00000002"}},
		{"a device is lent", func(d *scenario, p *api.Placement) {
			d.nodes[1].Lent = []Lent{{Job: "j00000002", GPU: api.GPUNone, PortNumbers: []api.PortNumber{1}}}
		}, []string{"Use --backend ring.", "mac-0 <-> mac-1: the RDMA device of port 1 of mac-1 is lent to job j00000002. Wait for the job that holds it."}},
		{"no JACCL", func(d *scenario, p *api.Placement) { d.nodes[1].MLX.Backends = []api.MLXBackend{api.MLXBackendRing} }, []string{"Use --backend ring.", "MLX on mac-1 has no jaccl. Run jobs with --backend ring (placement.backend in a file), or install an MLX with JACCL there; its packages for Linux have none."}},
		{"no MLX", func(d *scenario, p *api.Placement) { d.nodes[1].MLX.Missing = true }, []string{"Use --backend ring.", "The program's Python finds no MLX on mac-1. Install it there (pip install mlx; on Linux mlx[cpu]), or name an environment that has it with --venv (program.environment in a file)."}},
		{"old MLX in a ring", func(d *scenario, p *api.Placement) {
			d.nodes[1].MLX.Version, p.Backend = "0.32.2", api.BackendJACCLRing
		}, []string{"Use --backend jaccl.", "Use --backend ring.", "MLX on mac-1 is 0.32.2, whose all_gather over jaccl-ring is wrong before 0.32.4. Update MLX to 0.32.4 or later."}},
		{"two versions", func(d *scenario, p *api.Placement) {
			d.nodes[0].MLX.Version, d.nodes[1].MLX.Version = "0.33.0", "0.32.4"
		}, []string{"Install the same version of MLX everywhere, or pass --allow-mixed (allow_mixed in a file)."}},
		{"slow", func(d *scenario, p *api.Placement) { d.wires[0].gigabits = 40 }, []string{"Use --backend ring.", "mac-0 <-> mac-1: port 1 runs at 40 Gb/s, and RDMA needs more than 40. Use a Thunderbolt 5 cable in Thunderbolt 5 ports."}},
		{"switched off", func(d *scenario, p *api.Placement) { d.wires[0].ready = false }, []string{"Use --backend ring.", "mac-0 <-> mac-1: RDMA is switched off on mac-0. Start mac-0 in Recovery and run there: rdma_ctl enable. It takes about 4 minutes."}},
		{"not Thunderbolt 5", func(d *scenario, p *api.Placement) { d.wires, d.nodes[1].Thunderbolt5 = nil, new(false) }, nil},
		{"no cable", func(d *scenario, p *api.Placement) { d.wires = nil }, []string{"Join mac-0 and mac-1 with a Thunderbolt 5 cable."}},
		{"no cable, and a switch that is off", func(d *scenario, p *api.Placement) { d.wires, d.nodes[0].RDMAOn = nil, new(false) }, nil},
		{"no cable, and a switch that is on", func(d *scenario, p *api.Placement) { d.wires, d.nodes[0].RDMAOn = nil, new(true) }, []string{"Join mac-0 and mac-1 with a Thunderbolt 5 cable."}},
		{"no cable in a ring over sockets", func(d *scenario, p *api.Placement) { d.wires, p.Backend = nil, api.BackendRing }, []string{"Join mac-0 and mac-1 with a Thunderbolt cable, or find out why they do not reach each other over the one there is (fulmen links)."}},
		{"a network that is not trusted", func(d *scenario, p *api.Placement) {
			d.wires, d.lan, p.Backend = nil, []bool{true, true}, api.BackendRing
		}, []string{"Allow unencrypted traffic over 192.168.7.0/24 (ethernet) with --network 192.168.7.0/24."}},
		{"one rank too many", func(d *scenario, p *api.Placement) { p.Ranks, p.MinNodes = 3, 3 }, []string{"Ask for 2 ranks."}},
		{"one node too many", func(d *scenario, p *api.Placement) { p.Ranks, p.MinNodes, p.MaxNodes = 0, 3, 4 }, []string{"Ask for 2 ranks."}},
		{"all must be used", func(d *scenario, p *api.Placement) { p.Nodes, p.Ranks, d.nodes[1].Reached = ids(0, 1), 0, false }, []string{"mac-1 does not answer. Check that it is on, awake and connected."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d, p := newScenario(2).plug(0, 1, 80), asked
			d.lan = []bool{false, false}
			c.change(d, &p)
			r := Plan(d.input(p, nil))
			is.True(r.Plan == nil)
			is.Equal(messages(r.Remedies), c.want)
		})
	}
}

// A ring of four Macs has none of three: who asks for three is told that two would do,
// and not that four would.
func TestFewerRanksAreAdvised(t *testing.T) {
	is := is.New(t)
	d := newScenario(4).plug(0, 1, 80).plug(1, 2, 80).plug(2, 3, 80).plug(3, 0, 80)
	for i := range d.nodes {
		d.lan[i], d.nodes[i].MLX.Version = false, "0.32.4"
	}
	asked := api.Placement{Ranks: 4, Backend: api.BackendJACCLRing}
	is.True(Plan(d.input(asked, nil)).Plan != nil)
	asked.Ranks = 3
	reported := messages(Plan(d.input(asked, nil)).Remedies)
	is.True(slices.Contains(reported, "Ask for 2 ranks."))
	is.True(!slices.Contains(reported, "Ask for 4 ranks."))
}

// There are at most so many remedies, of those that take as little the first by name.
func TestMostRemedies(t *testing.T) {
	is := is.New(t)
	d := newScenario(10)
	d.lan = make([]bool, 10)
	got := messages(Plan(d.input(api.Placement{Ranks: 2, Backend: api.BackendJACCL}, nil)).Remedies)
	is.Equal(len(got), MaxRemedies)
	for i, message := range got {
		is.Equal(message, fmt.Sprintf("Join mac-0 and mac-%d with a Thunderbolt 5 cable.", i+1))
	}
}

// Whose GPU is lent, to whom, and for what else that leaves it.
func TestSharedGPU(t *testing.T) {
	for _, c := range []struct {
		lent, wanted api.GPUShare
		busy         bool
	}{
		{api.GPUExclusive, api.GPUExclusive, true}, {api.GPUExclusive, api.GPUShared, true}, {api.GPUExclusive, api.GPUNone, false},
		{api.GPUShared, api.GPUExclusive, true}, {api.GPUShared, api.GPUShared, false}, {api.GPUShared, api.GPUNone, false},
		{api.GPUNone, api.GPUExclusive, false}, {api.GPUNone, api.GPUShared, false}, {api.GPUNone, api.GPUNone, false},
	} {
		is := is.New(t)
		d := newScenario(1)
		d.nodes[0].Lent = []Lent{{Job: "j00000002", GPU: c.lent}}
		is.Equal(Plan(d.input(api.Placement{GPU: c.wanted}, nil)).Plan == nil, c.busy)
	}
}

// A rank fits where exactly so much is left, of what is lent to others and of what there is.
func TestRoomToTheByte(t *testing.T) {
	is := is.New(t)
	n := Node{ID: id(1)}
	_, reported := n.room()
	is.True(!reported)
	is.Equal(n.free(), int64(0))
	n.AvailableBytes = new(int64(70))
	is.Equal(n.free(), int64(70))
	n.WorkingSetBytes = new(int64(100))
	n.Lent = []Lent{{Principal: api.Principal{Node: id(1)}, MemoryBytes: 20}, {Principal: api.Principal{Node: id(2)}, MemoryBytes: 30}}
	left := func() int64 { room, _ := n.room(); return room }
	is.Equal(left(), int64(50))
	n.OthersMaxBytes = new(int64(40))
	is.Equal(left(), int64(10)) // 30 of 40 are with others
	n.OthersMaxBytes = new(int64(90))
	is.Equal(left(), int64(50)) // no more than there is
	n.OthersMaxBytes, n.OwnPrincipal = new(int64(40)), true
	is.Equal(left(), int64(50))
	is.Equal(n.free(), int64(50))
	n.AvailableBytes = new(int64(45))
	is.Equal(n.free(), int64(45))
	n.Lent[0].MemoryBytes = 200
	is.Equal(left(), int64(0))

	d := newScenario(1)
	d.nodes[0].WorkingSetBytes = new(int64(100))
	is.True(Plan(d.input(api.Placement{MemoryBytes: 100}, nil)).Plan != nil)
	is.True(Plan(d.input(api.Placement{MemoryBytes: 101}, nil)).Plan == nil)
}

// A node without a network document still has paths: their speed is not known.
func TestNetworkNotTold(t *testing.T) {
	is := is.New(t)
	in := newScenario(2).input(api.Placement{Ranks: 2, Backend: api.BackendRing, Networks: []string{"en0"}}, nil)
	is.Equal(*Plan(in).Plan.Links[0].BitsPerS, int64(10*gigabit))
	in.Nodes[0].Network = nil
	p := Plan(in).Plan
	is.True(p.Links[0].BitsPerS == nil)
	is.Equal(p.Notes[len(p.Notes)-1].Message, "the speed of 1 link is not known, and counts as the slowest")
	in.Graph.Paths = slices.DeleteFunc(slices.Clone(in.Graph.Paths), func(p topology.Path) bool { return p.From == id(1) })
	is.True(Plan(in).Plan == nil) // nobody tells at which address the first is found
	in.Nodes[0].Network = in.Nodes[1].Network
	is.True(Plan(in).Plan == nil) // an address that is not its own
}

// Several cables between two are all used where that is faster, matched end to end.
func TestSeveralCables(t *testing.T) {
	is := is.New(t)
	d := newScenario(2).plug(0, 1, 80).plug(0, 1, 80).plug(0, 1, 20)
	r := Plan(d.input(api.Placement{Ranks: 2, Backend: api.BackendJACCLRing}, nil))
	is.Equal(r.Plan.Devices, [][][]string{{nil, {"rdma_en3", "rdma_en4"}}, {{"rdma_en3", "rdma_en4"}, nil}})
	is.Equal(r.Plan.Ranks[1].PortNumbers, []api.PortNumber{1, 2})
	r = Plan(d.input(api.Placement{Ranks: 2, Backend: api.BackendRing}, nil))
	is.Equal(r.Plan.Hosts, [][]string{{"169.254.1.1", "169.254.1.2"}, {"169.254.2.1", "169.254.2.2"}}) // a third would slow both
	is.True(!r.Plan.Unencrypted)
}

// A network is used only where it is named or trusted, and the plan says so.
func TestNetworks(t *testing.T) {
	is := is.New(t)
	d := newScenario(2)
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
	ring := newScenario(32)
	for i := range ring.nodes {
		ring.plug(min(i, (i+1)%32), max(i, (i+1)%32), 80)
	}
	torus := newScenario(32)
	for i := range torus.nodes {
		for _, j := range []int{i/4*4 + (i+1)%4, (i + 4) % 32} {
			torus.plug(min(i, j), max(i, j), 80)
		}
	}
	mesh := newScenario(24).meshed(func(a, b int) int64 { return 41 + int64(a*b%40) })
	for _, c := range []struct {
		name string
		d    *scenario
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
			in.Graph.Paths = slices.DeleteFunc(slices.Clone(in.Graph.Paths), func(p topology.Path) bool { return p.From == id(from) && p.To == id(to) })
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
			d := newScenario(3)
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
	d := newScenario(3)
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
	d := newScenario(2).plug(0, 1, 80)
	d.nodes[0].MLX.Version, d.nodes[1].MLX.Version = "0.33.0", "0.32.4"
	in := d.input(api.Placement{Ranks: 2, Backend: api.BackendJACCL}, nil)
	is.Equal(Plan(in).Err().Data.Remedy, "Install the same version of MLX everywhere, or pass --allow-mixed (allow_mixed in a file).")
	in.Brief = true
	is.Equal(len(Plan(in).Remedies), 0)
	in.Spec.AllowMixed = true
	is.True(Plan(in).Plan != nil)
}
