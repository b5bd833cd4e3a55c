package probe

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestPlausible(t *testing.T) {
	is := is.New(t)
	first := pace{count{0, 1000}, 5 * time.Second, 1 << 20}
	before := pace{count{900 * time.Millisecond, 100 << 20}, 5900 * time.Millisecond, 101 << 20}
	for name, c := range map[string]struct {
		now  pace
		true bool
	}{
		"as it is":          {pace{count{time.Second, 110 << 20}, 6 * time.Second, 111 << 20}, true},
		"told late":         {pace{count{time.Second, 110 << 20}, 6300 * time.Millisecond, 111 << 20}, true},
		"more than is sent": {pace{count{time.Second, 112 << 20}, 6 * time.Second, 111 << 20}, false},
		"fewer than before": {pace{count{time.Second, 99 << 20}, 6 * time.Second, 111 << 20}, false},
		"before the last":   {pace{count{800 * time.Millisecond, 110 << 20}, 6 * time.Second, 111 << 20}, false},
		"half the time":     {pace{count{time.Second, 110 << 20}, 7 * time.Second, 111 << 20}, false},
		"twice the time":    {pace{count{2 * time.Second, 110 << 20}, 6 * time.Second, 111 << 20}, false},
	} {
		if why := c.now.follows(first, before); (why == "") != c.true {
			t.Errorf("%s: %q", name, why)
		}
	}
	stretch := func(claimed, written int64) string {
		return agrees(pace{count{0, 1 << 20}, 0, 2 << 20}, pace{count{time.Second, 1<<20 + claimed}, time.Second, 2<<20 + written}, 1)
	}
	is.Equal(stretch(100<<20, 100<<20), "")
	is.Equal(stretch(110<<20, 100<<20), "") // what was on its way
	is.True(stretch(300<<20, 100<<20) != "")
	is.True(stretch(30<<20, 100<<20) != "")
	is.Equal(sent(100, 100, 1), "")
	is.Equal(sent(100+inFlight, 100, 1), "")
	is.True(sent(99, 100, 1) != "")
	is.True(sent(101+inFlight, 100, 1) != "")
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
