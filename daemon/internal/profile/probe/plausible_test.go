package probe

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// reported is a receiver's counts of a transfer of 800 Mb/s, one every 10 ms, and
// what becomes of them on their way.
func reported(n int, change func(i int, p *pace)) string {
	var w witness
	for i := range n {
		at := time.Duration(i) * 10 * time.Millisecond
		p := pace{count{at, int64(i) << 20}, 5*time.Second + at, int64(i+2) << 20, true}
		change(i, &p)
		if why := w.see(p); why != "" {
			return why
		}
	}
	return ""
}

func TestWitness(t *testing.T) {
	for name, c := range map[string]struct {
		true   bool
		change func(i int, p *pace)
	}{
		"as it is":        {true, func(int, *pace) {}},
		"most of it late": {true, func(i int, p *pace) { p.arrived += time.Duration(i%5) * 100 * time.Millisecond }},
		"all of it late":  {true, func(i int, p *pace) { p.arrived += 3 * time.Second }},
		"held up for a second": {true, func(i int, p *pace) {
			if i > 20 && i < 120 {
				p.arrived, p.newest = 6200*time.Millisecond, i == 119
			}
		}},
		"a clock that is a little off": {true, func(i int, p *pace) { p.at += p.at / 20 }},
		"more than is sent":            {false, func(i int, p *pace) { p.bytes = p.bytes*5/4 + 1 }},
		"fewer than before":            {false, func(i int, p *pace) { p.bytes = (200 - int64(i)) << 10 }},
		"before the last":              {false, func(i int, p *pace) { p.at = time.Hour - p.at }},
		"half the time":                {false, func(i int, p *pace) { p.at /= 2 }},
		"twice the time":               {false, func(i int, p *pace) { p.at *= 2 }},
		"no time":                      {false, func(i int, p *pace) { p.at = 0 }},
	} {
		if why := reported(200, c.change); (why == "") != c.true {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// What is sent fastest is known, whatever was slow before and after.
func TestFastest(t *testing.T) {
	is := is.New(t)
	var w witness
	for i, ms := range []int{0, 6, 12, 1012, 1018} {
		at := time.Duration(ms) * time.Millisecond
		is.Equal(w.see(pace{count{at, int64(i)}, at, int64(i) * 6e6, true}), "")
	}
	is.Equal(w.fastest, 8e9)
}

func TestPlausible(t *testing.T) {
	is := is.New(t)
	w := witness{fastest: 8 * 60 << 20}
	stretch := func(claimed, written int64, in time.Duration) string {
		return w.agrees(pace{count{0, 1 << 20}, 2 * time.Second, 2 << 20, true}, pace{count{in, 1<<20 + claimed}, 3 * time.Second, 2<<20 + written, true}, 1)
	}
	is.Equal(stretch(100<<20, 100<<20, time.Second), "")
	is.Equal(stretch(110<<20, 100<<20, time.Second), "") // what was on its way
	is.True(stretch(20<<20, 100<<20, time.Second) != "")
	is.True(stretch(100<<20, 100<<20, 100*time.Millisecond) != "") // faster than anything was sent
}

func TestRoundTripNumbers(t *testing.T) {
	is := is.New(t)
	us := func(values ...int) (out []time.Duration) {
		for _, v := range values {
			out = append(out, time.Duration(v)*time.Microsecond)
		}
		return out
	}
	odd := roundTrips{times: us(10, 50, 20), lost: 1, counted: true}
	is.Equal(*odd.median(), 20.0)
	is.Equal(*odd.jitter(), 35.0) // of 40 and 30
	is.Equal(*odd.loss(), 0.25)
	even := roundTrips{times: us(40, 10, 20, 30)}
	is.Equal(*even.median(), 25.0)
	is.Equal(even.loss(), nil) // nobody counted
	is.Equal((&roundTrips{times: us(1)}).jitter(), nil)
	is.Equal((&roundTrips{}).median(), nil)
	is.Equal((&roundTrips{counted: true}).loss(), nil)
}

func TestBudgets(t *testing.T) {
	is := is.New(t)
	const minute = time.Minute
	b := budgets{limit: 10 * time.Second, used: map[api.NodeID]spent{}}
	allowed := func(node api.NodeID, at time.Duration) bool { _, ok := b.allows(node, at); return ok }
	is.True(allowed(laptop, minute))
	b.charge(laptop, 6*time.Second, minute)
	is.True(allowed(laptop, minute))
	b.charge(laptop, 6*time.Second, minute)
	is.True(!allowed(laptop, minute))
	is.True(allowed(third, minute)) // its own
	wait, _ := b.allows(laptop, minute)
	is.True(!allowed(laptop, minute+wait-time.Second))
	is.True(allowed(laptop, minute+wait+time.Second))
	b.charge(third, 0, 3*BudgetPeriod)
	is.Equal(len(b.used), 1) // the other one's is forgotten
	is.Equal(b.usedBy(third, 3*BudgetPeriod), leastCost)
}
