package placement

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// What made-up clusters are told, in words: who is rejected and why, what would help
// and in which order, and what a person should know of a plan.
func TestWhatIsSaid(t *testing.T) {
	is := is.New(t)
	var b strings.Builder
	for seed := range testkit.Seed(200) { // those of the golden file
		r := seed.Source(13)
		d := troubled(r, randomScenario(r, 6))
		if len(d.nodes) < 3 {
			continue
		}
		p := randomPlacement(r, d)
		if n := len(d.nodes) - r.IntN(2); r.IntN(2) == 0 && n > 0 { // as many as there are rarely find a place
			p.Ranks, p.MinNodes, p.MaxNodes = n, 0, 0
		}
		in := d.input(p, r)
		in.Spec.AllowSolo = r.IntN(8) == 0
		fmt.Fprintf(&b, "%d: %d Macs, %s\n%s", seed, len(d.nodes), d.asked(p), d.reported(Plan(in)))
	}
	path := filepath.Join("testdata", "words.golden")
	if *update {
		is.NoErr(os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	is.NoErr(err)
	have := strings.SplitAfter(b.String(), "\n")
	for i, line := range strings.SplitAfter(string(want), "\n") {
		if i >= len(have) || have[i] != line {
			t.Fatalf("line %d of %s: %s", i+1, path, have[min(i, len(have)-1)])
		}
	}
	is.Equal(b.String(), string(want))
}

// troubled is a desk with some of what can be amiss with a Mac.
func troubled(r *rand.Rand, d *scenario) *scenario {
	for i := range d.nodes {
		n := &d.nodes[i]
		n.Reached, n.Refusal, d.lan[i] = true, "", d.lan[i] && r.IntN(2) == 0
		switch r.IntN(36) {
		case 0:
			n.State = []api.SelfState{api.SelfAsleep, api.SelfStopping, api.SelfRestarting, api.SelfLeft, api.SelfAwake}[r.IntN(5)]
		case 1:
			n.State, n.StateReason = api.SelfAsleep, api.ReasonLidClosed
		case 2:
			n.Refusal = []api.Reason{api.ReasonPrincipalUnmapped, api.ReasonOnBattery, api.ReasonNotIdle}[r.IntN(3)]
		case 3:
			n.Lent = []Lent{{Job: "j00000002", GPU: []api.GPUShare{api.GPUExclusive, api.GPUShared, api.GPUNone}[r.IntN(3)], MemoryBytes: int64(r.IntN(40)) << 30}}
		case 4:
			n.Lent = []Lent{{Job: "j00000003", GPU: api.GPUNone, PortNumbers: []api.PortNumber{1, 2}}}
		case 5:
			n.Thunderbolt5 = new(r.IntN(2) == 0)
		case 6:
			n.RDMAOn = new(r.IntN(2) == 0)
		case 7:
			n.MLX.Backends = []api.MLXBackend{[]api.MLXBackend{api.MLXBackendRing, api.MLXBackendJACCL}[r.IntN(2)]}
		case 8:
			n.MLX.Missing = true
		case 9:
			d.limit(i, with(func(l *api.RDMALimits) { l.MemoryRegions = []int{31, 32, 63, 64, 127, 128}[r.IntN(6)] }))
		case 10:
			n.AvailableBytes = new(int64(r.IntN(60)) << 30)
		case 11:
			n.WorkingSetBytes = nil
		case 12:
			n.Reached = false
		case 13:
			n.Refusal = api.ReasonJobsNotShared
		case 14:
			n.Strain = strains()[i%len(strains())]
		}
	}
	for k := range d.wires {
		first := k == 0 || d.wires[k-1].a != d.wires[k].a || d.wires[k-1].b != d.wires[k].b
		d.wires[k].hubA = first && r.IntN(6) == 0
	}
	if r.IntN(3) > 0 {
		d.wires = slices.DeleteFunc(d.wires, func(wire) bool { return r.IntN(3) == 0 })
	}
	return d
}

// name is a made-up node's.
func (d *scenario) name(n api.NodeID) string {
	return d.nodes[slices.IndexFunc(d.nodes, func(have Node) bool { return have.ID == n })].ShortName
}

func (d *scenario) namesOf(all []api.NodeID) string {
	var out []string
	for _, n := range all {
		out = append(out, d.name(n))
	}
	return strings.Join(out, " ")
}

// asked is a placement in words.
func (d *scenario) asked(p api.Placement) string {
	reported := fmt.Sprintf("%s, %d ranks or %d to %d", p.Backend, p.Ranks, p.MinNodes, p.MaxNodes)
	if p.Rank0 != "" {
		reported += ", rank 0 on " + d.name(p.Rank0)
	}
	return reported + fmt.Sprintf(", with %s, without %s, %s, over %s", d.namesOf(p.Nodes), d.namesOf(p.ExcludedNodes), gibibytes(p.MemoryBytes), p.Networks)
}

// reported is a result, a line for each thing.
func (d *scenario) reported(r Result) string {
	var b strings.Builder
	if p := r.Plan; p != nil {
		fmt.Fprintf(&b, "  %s %s\n", p.Backend, p.Shape)
		for i, rank := range p.Ranks {
			fmt.Fprintf(&b, "  rank %d on %s, receptacles %v, addresses %v\n", i, d.name(rank.Node), rank.PortNumbers, rank.Addresses)
		}
		for _, l := range p.Links {
			bits := "unknown"
			if l.BitsPerS != nil {
				bits = gigabits(*l.BitsPerS)
			}
			fmt.Fprintf(&b, "  %d-%d %s %s, measured %t\n", l.From, l.To, l.Kind, bits, l.Measured)
		}
		for i, row := range p.Devices {
			fmt.Fprintf(&b, "  devices of rank %d: %v\n", i, row)
		}
		for _, c := range p.Notes {
			fmt.Fprintf(&b, "  note %s: %s\n", c.Reason, c.Message)
		}
	}
	for _, rejection := range r.Rejections {
		fmt.Fprintf(&b, "  rejected %s for %s, %s: %s\n", d.namesOf(rejection.Nodes), rejection.Backend, rejection.Cause.Reason, rejection.Cause.Message)
	}
	for _, c := range r.Remedies {
		fmt.Fprintf(&b, "  remedy %s: %s\n", c.Reason, c.Message)
	}
	text := b.String()
	for _, n := range d.nodes {
		text = strings.NewReplacer(string(n.ID), n.ShortName, n.ID.Display(), n.ShortName).Replace(text)
	}
	return text
}
