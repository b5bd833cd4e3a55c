package placement

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native/nativetest/testkit"
)

// clusters are how many a law is tried on: a third of them under the race detector,
// for which a pure function has nothing.
func clusters(all int) int {
	if testing.Short() {
		return all / 3
	}
	return all
}

// Every plan of a random cluster is the best one by trying everything, and
// where there is none, nothing else finds one.
func TestExact(t *testing.T) {
	seen := map[api.Backend]int{}
	for seed := range testkit.Upto(t, clusters(1500)) {
		r := seed.Source(7)
		d := randomScenario(r, 6)
		want := randomPlacement(r, d)
		d.lanTCP = []int64{0, 0, 1, 45, 90, 200}[r.IntN(6)]
		d.strain(seed.Source(15))
		checkExact(t, seed, d, want, seen)
	}
	is := is.New(t)
	for _, backend := range []api.Backend{"", api.BackendJACCL, api.BackendJACCLRing, api.BackendRing} {
		is.True(seen[backend] > 10) // each kind of answer is tried
	}
}

// So is one of several ranks a node, over ring; JACCL is refused.
func TestExactOfSeveralANode(t *testing.T) {
	is := is.New(t)
	seen, refused := map[api.Backend]int{}, 0
	for seed := range testkit.Upto(t, clusters(300)) {
		r := seed.Source(14)
		d := randomScenario(r, 6)
		p := randomPlacement(r, d)
		p.RanksPerNode = 2 + r.IntN(3)
		p.Ranks *= p.RanksPerNode
		p.MemoryBytes /= int64(1 + r.IntN(4))
		d.strain(seed.Source(15))
		if p.Backend.RDMA() {
			got := Plan(d.input(p, nil))
			is.True(got.Final)
			is.Equal(got.Err().Data.Subject, "ranks_per_node")
			refused++
			continue
		}
		checkExact(t, seed, d, p, seen)
	}
	is.True(refused > 10 && seen[""] > 10 && seen[api.BackendRing] > 10)
}

func checkExact(t *testing.T, seed testkit.Seed, d *scenario, p api.Placement, seen map[api.Backend]int) {
	t.Helper()
	in := d.input(p, seed.Source(8))
	if _, wrong := demandOf(&in.Spec); wrong != nil {
		return
	}
	got := Plan(in)
	if got.Plan != nil {
		if err := checkPlan(in, got.Plan); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !got.Plan.ProvenBest {
			t.Fatalf("seed %d: not proven", seed)
		}
	}
	have, want := d.verdictOf(got.Plan), d.brute(p)
	if len(want.nodes) == 1 { // one rank talks to nobody: the backend is as asked for
		want.backend = have.backend
	}
	if have.is != want.is || have.backend != want.backend || have.score != want.score || !slices.Equal(have.nodes, want.nodes) {
		t.Fatalf("seed %d: %+v is planned and %+v is best for %+v (%v)", seed, have, want, p, got.Err())
	}
	seen[have.backend]++
}

// The same state gives the same result in any order of what tells it.
func TestOrderDoesNotMatter(t *testing.T) {
	is := is.New(t)
	for seed := range testkit.Upto(t, clusters(150)) {
		r := seed.Source(9)
		d := randomScenario(r, 10)
		p := randomPlacement(r, d)
		want, err := json.Marshal(Plan(d.input(p, nil)).Wire())
		is.NoErr(err)
		for k := range uint64(3) {
			got, err := json.Marshal(Plan(d.input(p, seed.Source(100+k))).Wire())
			is.NoErr(err)
			is.Equal(string(got), string(want))
		}
	}
}

// One more cable never makes a plan worse.
func TestMoreCablesAreNeverWorse(t *testing.T) {
	for seed := range testkit.Upto(t, clusters(400)) {
		r := seed.Source(10)
		d := randomScenario(r, 9)
		if len(d.nodes) < 2 {
			continue
		}
		p := randomPlacement(r, d)
		before := d.verdictOf(Plan(d.input(p, nil)).Plan)
		a := r.IntN(len(d.nodes) - 1)
		b := a + 1 + r.IntN(len(d.nodes)-a-1)
		d.wires = append(d.wires, wire{a: a, b: b, gigabits: []int64{20, 80, 120}[r.IntN(3)], ready: true})
		after := d.verdictOf(Plan(d.input(p, nil)).Plan)
		if worse(after, before) {
			t.Fatalf("seed %d: %+v becomes %+v with %d - %d for %+v", seed, before, after, a, b, p)
		}
	}
}

// worse reports whether a verdict is worse than another.
func worse(a, b verdict) bool {
	order := []api.Backend{api.BackendJACCL, api.BackendJACCLRing, api.BackendRing}
	tier := func(v verdict) int { return slices.Index(order, v.backend) }
	switch {
	case a.is != b.is:
		return b.is
	case tier(a) != tier(b):
		return tier(a) > tier(b)
	case len(a.nodes) != len(b.nodes):
		return len(a.nodes) > len(b.nodes)
	}
	return a.score.compare(b.score) < 0
}

// A refusal names what stops it in words, and each remedy that is about a node
// or a missing cable does help.
func TestRefusalsExplainThemselves(t *testing.T) {
	is := is.New(t)
	refused, tried := 0, map[api.Reason]int{}
	for seed := range testkit.Upto(t, 400) {
		r := seed.Source(11)
		d := randomScenario(r, 8)
		p := randomPlacement(r, d)
		got := Plan(d.input(p, nil))
		is.True(len(got.Rejections) <= MaxRejections)
		is.True(len(got.Remedies) <= MaxRemedies)
		if got.Plan != nil {
			is.Equal(got.Err(), nil)
			is.Equal(len(got.Remedies), 0)
			continue
		}
		refused++
		is.True(len(got.Rejections) > 0)
		for _, c := range got.Rejections {
			_, known := api.LookupReason(c.Reason)
			is.True(known)
			is.True(c.Message != "")
			is.True(c.Nodes != nil)
		}
		is.Equal(got.Err().Data.Reason, got.Rejections[0].Reason)
		for _, c := range got.Remedies {
			if changed := d.remedied(c); changed != nil {
				tried[c.Reason]++
				if Plan(changed.input(p, nil)).Plan == nil {
					t.Fatalf("seed %d: %s does not help for %+v", seed, c.Message, p)
				}
			}
		}
	}
	is.True(refused > 50)
	for _, reason := range []api.Reason{api.ReasonNotConnected, api.ReasonNodeUnreachable, api.ReasonJobsNotShared} {
		is.True(tried[reason] > 5) // each kind of remedy is tried
	}
}

// remedied is the desk after a remedy; nil for one that is not about a node or a
// missing cable.
func (d *scenario) remedied(c api.Cause) *scenario {
	after := *d
	after.nodes, after.wires = slices.Clone(d.nodes), slices.Clone(d.wires)
	find := func(id string) int {
		return slices.IndexFunc(d.nodes, func(n Node) bool { return string(n.ID) == id })
	}
	switch c.Reason {
	case api.ReasonNodeUnreachable:
		after.nodes[find(c.Subject)].Reached = true
	case api.ReasonJobsNotShared:
		after.nodes[find(c.Subject)].Refusal = ""
	case api.ReasonNotConnected:
		a, b, _ := strings.Cut(c.Subject, "~")
		after.plug(min(find(a), find(b)), max(find(a), find(b)), 80)
	default:
		return nil
	}
	return &after
}

func FuzzPlan(f *testing.F) {
	f.Add(uint64(1), uint8(6))
	f.Add(uint64(2), uint8(20))
	f.Fuzz(func(t *testing.T, seed uint64, size uint8) {
		r := testkit.Seed(seed).Source(12)
		d := randomScenario(r, 1+int(size)%20)
		p := randomPlacement(r, d)
		if len(d.nodes) <= 6 {
			checkExact(t, testkit.Seed(seed), d, p, map[api.Backend]int{})
			return
		}
		in := d.input(p, nil)
		if got := Plan(in); got.Plan != nil {
			if err := checkPlan(in, got.Plan); err != nil {
				t.Fatal(err)
			}
		} else if got.Err() == nil {
			t.Fatal("neither a plan nor a reason")
		}
	})
}
