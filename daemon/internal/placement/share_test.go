package placement

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

const gib = 1 << 30

// macsWith is Macs of which every two are joined, with so much memory available of 100 GiB
// and GPUs of such speeds; 0 is one that was not measured.
func macsWith(gibibytes []int64, tflops ...float64) *scenario {
	d := newScenario(len(gibibytes)).meshed(evenly(80))
	for i, n := range gibibytes {
		d.nodes[i].AvailableBytes, d.nodes[i].Pressure = new(n*gib), api.PressureNormal
		if d.nodes[i].FP16TFLOPS = nil; i < len(tflops) && tflops[i] > 0 {
			d.nodes[i].FP16TFLOPS = &tflops[i]
		}
	}
	return d
}

// Shares go by memory, and by speed as far as the memory lets where it is known how much
// the whole is; what a plan should tell of them it does.
func TestShares(t *testing.T) {
	const (
		byMemory   = "Shares are by memory alone: --memory, with what all ranks need together, lets speed count too"
		unmeasured = "Shares are by memory alone: the GPU of mac-1 was not measured (fulmen measure gpu)"
	)
	for _, c := range []struct {
		name   string
		memory []int64
		tflops []float64
		asked  api.Placement
		shares []float64
		bytes  []int64 // in GiB
		notes  []string
	}{
		{"by memory", []int64{60, 20}, []float64{10, 20}, api.Placement{Ranks: 2}, []float64{.75, .25}, []int64{0, 0}, []string{byMemory}},
		{"the working set bounds what is available", []int64{400, 100}, nil, api.Placement{Ranks: 2}, []float64{.5, .5}, []int64{0, 0}, []string{byMemory}},
		{"by speed", []int64{60, 60}, []float64{30, 10}, api.Placement{Ranks: 2, MemoryBytes: 40 * gib}, []float64{.75, .25}, []int64{30, 10}, nil},
		{"no more than fits", []int64{20, 60}, []float64{30, 10}, api.Placement{Ranks: 2, MemoryBytes: 50 * gib}, []float64{.4, .6}, []int64{20, 30}, nil},
		{"what one cannot take the others do by speed", []int64{10, 90, 90}, []float64{60, 20, 40}, api.Placement{Ranks: 3, MemoryBytes: 100 * gib}, []float64{.1, .3, .6}, []int64{10, 30, 60}, nil},
		{"one was not measured", []int64{60, 20}, []float64{10}, api.Placement{Ranks: 2, MemoryBytes: 40 * gib}, []float64{.75, .25}, []int64{30, 10}, []string{unmeasured}},
		{"to the last byte", []int64{60, 20}, []float64{10, 10}, api.Placement{Ranks: 2, MemoryBytes: 80 * gib}, []float64{.75, .25}, []int64{60, 20}, nil},
		{"what is left goes to the first", []int64{60, 60, 60}, nil, api.Placement{Ranks: 3}, []float64{.333334, .333333, .333333}, []int64{0, 0, 0}, []string{byMemory}},
		{"full to what rounding leaves", slices.Repeat([]int64{10}, 6), slices.Repeat([]float64{9}, 6), api.Placement{Ranks: 6, MemoryBytes: 60 * gib},
			[]float64{.166667, .166667, .166667, .166667, .166666, .166666}, slices.Repeat([]int64{10}, 6), nil},
		{"alone", []int64{60}, nil, api.Placement{Ranks: 1, MemoryBytes: 40 * gib}, []float64{1}, []int64{40}, nil},
		{"alone, of a size not known", []int64{60}, nil, api.Placement{Ranks: 1}, []float64{1}, []int64{0}, nil},
		{"as few as have the memory", []int64{30, 40, 30}, []float64{9, 9, 9}, api.Placement{MinNodes: 1, MemoryBytes: 68 * gib}, []float64{.441176, .558824}, []int64{30, 38}, nil},
		{"two have not enough", []int64{30, 30, 30}, []float64{8, 8, 16}, api.Placement{MinNodes: 2, MaxNodes: 3, MemoryBytes: 64 * gib}, []float64{.265625, .265625, .46875}, []int64{17, 17, 30}, nil},
	} {
		for _, backend := range []api.Backend{api.BackendJACCL, api.BackendRing} {
			t.Run(c.name+", "+string(backend), func(t *testing.T) {
				is := is.New(t)
				c.asked.ShareBy, c.asked.Backend = api.ShareByMemory, backend
				r := Plan(macsWith(c.memory, c.tflops...).input(c.asked, nil))
				is.NoErr(asError(r.Err()))
				is.Equal(r.Plan.Shares(), c.shares)
				for i, rank := range r.Plan.Ranks {
					is.Equal((rank.MemoryBytes+gib/2)/gib, c.bytes[i])
					is.True(c.bytes[i] == 0 || rank.MemoryBytes <= c.memory[slices.Index(ids(0, 1, 2, 3, 4, 5), rank.Node)]*gib)
				}
				var notes []string
				for _, n := range r.Plan.Notes {
					if n.Reason == api.ReasonSharesByMemory {
						notes = append(notes, n.Message)
					}
				}
				is.Equal(notes, c.notes)
			})
		}
	}
}

func asError(e *api.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// A Mac that would swap is left out, and the plan says why; where none can take its place
// there is no plan.
func TestWhoWouldSwap(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(n *Node)
		reason  api.Reason
		message string
		remedy  string
	}{
		{"pressure", func(n *Node) { n.Pressure = api.PressureCritical }, api.ReasonMemoryPressure, "mac-0 is short of memory, and would swap with a share (pressure: critical)",
			"mac-0 is short of memory, and would swap with a share (pressure: critical). Quit something large."},
		{"a little pressure", func(n *Node) { n.Pressure = api.PressureWarning }, api.ReasonMemoryPressure, "mac-0 is short of memory, and would swap with a share (pressure: warning)", ""},
		{"in use", func(n *Node) { n.AvailableBytes = new(int64(gib - 1)) }, api.ReasonNotEnoughMemory, "mac-0 has 0.9 GiB of memory left, less than the 1 GiB that a share takes at least, and would swap", ""},
		{"lent", func(n *Node) { n.Lent = []Lent{{Job: "j00000002", GPU: api.GPUNone, MemoryBytes: 100 * gib}} }, api.ReasonNotEnoughMemory,
			"mac-0 has 0 GiB of memory left, less than the 1 GiB that a share takes at least, and would swap", ""},
		{"available is not known", func(n *Node) { n.AvailableBytes = nil }, api.ReasonNotEnoughMemory, "mac-0 does not report how much memory is available", ""},
		{"the GPU's own memory is lent", func(n *Node) {
			n.GPUMemory, n.Lent = api.GPUMemoryDedicated, []Lent{{Job: "j00000002", GPU: api.GPUNone, MemoryBytes: 100 * gib}}
		}, api.ReasonNotEnoughMemory, "mac-0 has 0 GiB of memory left, less than the 1 GiB that a share takes at least, and would swap", ""},
		{"the working set is not known", func(n *Node) { n.WorkingSetBytes = nil }, api.ReasonNotEnoughMemory, "mac-0 does not report how much memory its GPU can use", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			d := macsWith([]int64{60, 30, 30})
			c.change(&d.nodes[0])
			p := api.Placement{Ranks: 2, Backend: api.BackendRing}
			p.ShareBy = api.ShareByMemory
			r := Plan(d.input(p, nil))
			is.Equal(nodesOf(r.Plan), ids(1, 2))
			is.True(slices.ContainsFunc(r.Plan.Notes, func(n api.Cause) bool { return n.Reason == c.reason && n.Message == c.message+", so it is left out" }))
			p.Nodes = ids(1, 2)
			is.True(!slices.Contains(messages(Plan(d.input(p, nil)).Plan.Notes), c.message+", so it is left out")) // who was not wanted is not missed
			p.Nodes, p.ShareBy = ids(0, 1), ""
			is.True(Plan(d.input(p, nil)).Plan != nil) // without shares it takes part
			p.ShareBy = api.ShareByMemory
			r = Plan(d.input(p, nil))
			is.Equal(r.Plan, nil)
			is.Equal(r.Rejections[0].Message, c.message)
			if c.remedy != "" {
				is.True(slices.Contains(messages(r.Remedies), c.remedy))
			}
		})
	}
	// What is just enough is enough, and a system that tells of no pressure is under none.
	is := is.New(t)
	d := macsWith([]int64{1, 30})
	d.nodes[0].Pressure = ""
	is.Equal(len(Plan(d.input(api.Placement{Ranks: 2, ShareBy: api.ShareByMemory}, nil)).Plan.Ranks), 2)
}

// What does not fit into any of the sets is refused with the numbers, and with what would.
func TestWholeThatDoesNotFit(t *testing.T) {
	is := is.New(t)
	d := macsWith([]int64{60, 30, 30})
	of := func(ranks int, whole int64) Result {
		return Plan(d.input(api.Placement{Ranks: ranks, Backend: api.BackendRing, ShareBy: api.ShareByMemory, MemoryBytes: whole * gib}, nil))
	}
	r := of(2, 100)
	is.Equal(r.Err().Data.Reason, api.ReasonNotEnoughMemory)
	is.Equal(r.Rejections[0].Message, "mac-0, mac-1 have 90 GiB of memory left together, and the ranks need 100 GiB")
	is.Equal(messages(r.Remedies), []string{"Ask for at most 90 GiB for all ranks.", "Ask for 3 ranks, which have the memory together."})
	r = of(1, 70)
	is.Equal(r.Rejections[0].Message, "mac-0 has 60 GiB of memory left, and the ranks need 70 GiB")
	is.Equal(messages(r.Remedies), []string{"Ask for at most 60 GiB for all ranks.", "Ask for 2 ranks, which have the memory together."})
	r = of(3, 121)
	is.Equal(messages(r.Remedies), []string{"Ask for at most 120 GiB for all ranks."})
	r = of(4, 500) // what single Macs have is not the matter
	is.Equal(len(r.Rejections), 1)
	is.Equal(r.Rejections[0].Message, "4 nodes are needed, and there are 3")
	ring := macsWith([]int64{9, 9, 9, 9})
	ring.wires = nil
	ring.plug(0, 1, 80).plug(1, 2, 80).plug(2, 3, 80).plug(0, 3, 80).plug(0, 2, 80)
	r = Plan(ring.input(api.Placement{Ranks: 4, Backend: api.BackendJACCLRing, ShareBy: api.ShareByMemory, MemoryBytes: 500 * gib}, nil))
	is.Equal(messages(r.Remedies), []string{"Ask for at most 36 GiB for all ranks."}) // and no cable
	bad := Plan(d.input(api.Placement{Ranks: 2, ShareBy: "speed"}, nil))
	is.True(bad.Final)
	is.Equal(bad.Rejections[0].Subject, "per_node")
}

// Among more nodes than are searched to the end a ring has the memory, too.
func TestManyNodesHaveTheMemory(t *testing.T) {
	is := is.New(t)
	d := macsWith(slices.Repeat([]int64{10}, 18))
	for i := 12; i < 18; i++ {
		d.nodes[i].AvailableBytes = new(int64(50 * gib))
	}
	for _, backend := range []api.Backend{api.BackendRing, api.BackendJACCL} {
		r := Plan(d.input(api.Placement{MinNodes: 2, MaxNodes: 8, Backend: backend, ShareBy: api.ShareByMemory, MemoryBytes: 120 * gib}, nil))
		is.NoErr(asError(r.Err()))
		is.True(len(r.Plan.Ranks) <= 8)
	}
}

// memoryAsked is a placement with shares, of a whole or not, on Macs of which some have little left.
func memoryAsked(r *rand.Rand, d *scenario) api.Placement {
	whole := int64(gib)
	for i := range d.nodes {
		n := &d.nodes[i]
		n.AvailableBytes = new(int64(1+r.IntN(60))*gib - int64(r.IntN(gib)))
		if n.Reached, n.Refusal = true, ""; r.IntN(10) == 0 {
			n.Pressure = api.PressureWarning
		}
		if r.IntN(6) > 0 {
			n.FP16TFLOPS = new(2 + 40*r.Float64())
		}
		whole += int64(float64(min(*n.AvailableBytes, *n.WorkingSetBytes)) * r.Float64())
	}
	p := randomPlacement(r, d)
	p.ShareBy = api.ShareByMemory
	if p.MemoryBytes = 0; r.IntN(3) > 0 {
		p.MemoryBytes = whole
	}
	if r.IntN(2) == 0 {
		p.Networks = []string{"192.168.7.0/24"}
	}
	return p
}

// Shares add up to 1; nobody gets more than fits; nobody can give some of its share to
// another one so that the slowest has less to do for its weight; and who has more memory,
// or is faster, never gets less for it. The plan is the best by trying everything.
func TestLawsOfShares(t *testing.T) {
	seen, planned, capped := map[api.Backend]int{}, 0, 0
	for seed := range testkit.Upto(t, clusters(300)) {
		r := seed.Source(31)
		d := randomScenario(r, 5)
		p := memoryAsked(r, d)
		checkExact(t, seed, d, p, seen)
		got := Plan(d.input(p, nil)).Plan
		if got == nil || len(got.Ranks) < 2 {
			continue
		}
		planned++
		if checkShares(t, seed, d, p, got) {
			capped++
		}
		// The same Macs, of which one has more.
		p.Ranks, p.MinNodes, p.MaxNodes, p.Nodes = len(got.Ranks), 0, 0, nodesOf(got)
		who := got.Ranks[r.IntN(len(got.Ranks))]
		i := slices.IndexFunc(d.nodes, func(n Node) bool { return n.ID == who.Node })
		if n := &d.nodes[i]; r.IntN(3) > 0 || n.FP16TFLOPS == nil {
			more := int64(r.IntN(1<<uint(r.IntN(36))) + 1)
			n.AvailableBytes, n.WorkingSetBytes = new(*n.AvailableBytes+more), new(*n.WorkingSetBytes+more)
		} else {
			n.FP16TFLOPS = new(*n.FP16TFLOPS * (1 + r.Float64()))
		}
		for _, rank := range Plan(d.input(p, nil)).Plan.Ranks {
			if rank.Node == who.Node && rank.ShareRatio < who.ShareRatio {
				t.Fatalf("seed %d: with more it gets %v, which was %v", seed, rank.ShareRatio, who.ShareRatio)
			}
		}
	}
	is := is.New(t)
	is.True(planned > clusters(45) && capped > clusters(12)) // each kind is tried
}

// checkShares holds the shares of a plan against what each Mac has, and reports whether
// one gets all that fits.
func checkShares(t *testing.T, seed testkit.Seed, d *scenario, p api.Placement, plan *api.Plan) (capped bool) {
	t.Helper()
	var units, caps []int64
	var rooms, speeds []float64
	sum, full, measured := int64(0), int64(0), true
	for _, rank := range plan.Ranks {
		n := d.nodes[slices.IndexFunc(d.nodes, func(n Node) bool { return n.ID == rank.Node })]
		room := min(*n.WorkingSetBytes, *n.AvailableBytes)
		share := int64(math.Round(rank.ShareRatio * 1e6))
		if float64(share)/1e6 != rank.ShareRatio || share < 1 {
			t.Fatalf("seed %d: a share of %v", seed, rank.ShareRatio)
		}
		most := int64(1e6)
		if p.MemoryBytes > 0 {
			most = min(most, millionths(room, p.MemoryBytes))
		}
		if full += min(most, share); share > most+1 || rank.MemoryBytes > room {
			t.Fatalf("seed %d: %+v has more than the %d that fit", seed, rank, room)
		}
		sum += share
		units, caps, rooms = append(units, share), append(caps, most), append(rooms, float64(room))
		if measured = measured && n.FP16TFLOPS != nil; measured {
			speeds = append(speeds, *n.FP16TFLOPS)
		}
	}
	if full < sum && full != sumOf(caps) {
		t.Fatalf("seed %d: %v is more than the %v that fit, and not for rounding", seed, units, caps)
	}
	if sum != 1e6 {
		t.Fatalf("seed %d: %v add up to %d", seed, plan.Shares(), sum)
	}
	weights := rooms
	if measured && p.MemoryBytes > 0 {
		weights = speeds
	}
	for i := range units {
		capped = capped || units[i] == caps[i]
		for j := range units {
			if units[i] > 1 && units[j] < caps[j] && float64(units[i])/weights[i] > float64(units[j]+1)/weights[j] {
				t.Fatalf("seed %d: %v by %v: rank %d could take some of rank %d", seed, units, weights, j, i)
			}
		}
	}
	return capped
}

func sumOf(all []int64) (sum int64) {
	for _, n := range all {
		sum += n
	}
	return sum
}

// millionths is how many millionths of a whole are in a part.
func millionths(part, whole int64) int64 {
	n := new(big.Int).Mul(big.NewInt(part), big.NewInt(1e6))
	return n.Div(n, big.NewInt(whole)).Int64()
}
