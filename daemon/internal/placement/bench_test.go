package placement

import (
	"testing"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// uneven is a full mesh of 16 nodes with as many speeds as there are pairs.
func uneven() *scenario {
	return newScenario(16).meshed(func(a, b int) int64 { return 41 + int64(a*b*37%83) })
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// The aim is 10 ms for 16 nodes of which every two are joined.
func BenchmarkFullMesh16(b *testing.B) {
	for _, c := range []struct {
		name string
		p    api.Placement
	}{
		{"jaccl-4", api.Placement{Ranks: 4, Backend: api.BackendJACCL}},
		{"jaccl-8", api.Placement{Ranks: 8, Backend: api.BackendJACCL}},
		{"jaccl-ring-8", api.Placement{Ranks: 8, Backend: api.BackendJACCLRing}},
		{"jaccl-ring-16", api.Placement{Ranks: 16, Backend: api.BackendJACCLRing}},
		{"ring-16", api.Placement{Ranks: 16, Backend: api.BackendRing}},
		{"auto-12", api.Placement{Ranks: 12}},
	} {
		in := uneven().input(c.p, nil)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if r := Plan(in); r.Plan == nil || !r.Plan.ProvenBest {
					b.Fatal(r.Err())
				}
			}
		})
	}
}

// A refusal looks at every set and tries changes of the spec.
func BenchmarkRefusal(b *testing.B) {
	line := func(n int) *scenario {
		d := newScenario(n)
		for i := range n - 1 {
			d.plug(i, i+1, 80)
		}
		return d
	}
	for _, c := range []struct {
		name string
		d    *scenario
		p    api.Placement
	}{
		{"no cables", newScenario(16), api.Placement{Ranks: 8, Backend: api.BackendJACCL}},
		{"a line", line(16), api.Placement{Ranks: 16}},
		{"part of a line", line(16), api.Placement{Ranks: 8}},
		{"memory", uneven(), api.Placement{Ranks: 8, MemoryBytes: 1 << 40}},
		{"a line of 32", line(32), api.Placement{MinNodes: 17, MaxNodes: 32}},
	} {
		in := c.d.input(c.p, nil)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if Plan(in).Plan != nil {
					b.Fatal("there is a plan")
				}
			}
		})
	}
}

// The documents of a scenario of sixteen Macs, decoded and planned.
func BenchmarkDocumentsOf16(b *testing.B) {
	drawn := draw(b, "sixteen")
	for b.Loop() {
		if r := drawn.place(b, api.Placement{Ranks: 16}); r.Plan == nil {
			b.Fatal(r.Err())
		}
	}
}
