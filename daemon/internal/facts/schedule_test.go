package facts

import (
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// plan drives a schedule of one area by a script of hints, as the owner would,
// and gives the times of readings in milliseconds.
func plan(until time.Duration, hints []time.Duration, pace func(at time.Duration) time.Duration) []int {
	start := time.Unix(1000, 0)
	s := newSchedule()
	var readings []int
	pending := hints
	for now := time.Duration(0); now <= until; {
		var hinted []native.Area
		for len(pending) > 0 && pending[0] <= now {
			hinted, pending = []native.Area{native.AreaNetwork}, pending[1:]
		}
		paced := map[native.Area]time.Duration{}
		if p := pace(now); p > 0 {
			paced[native.AreaNetwork] = p
		}
		if len(s.due(start.Add(now), hinted, paced)) > 0 {
			readings = append(readings, int(now.Milliseconds()))
		}
		next := until + 1 // sleep until a hint comes or the schedule says
		if at := s.next(start.Add(now)); !at.IsZero() {
			next = max(at.Sub(start), now)
		}
		if len(pending) > 0 {
			next = min(next, pending[0])
		}
		if next == now {
			next += time.Millisecond
		}
		now = next
	}
	return readings
}

func every(step, until time.Duration) (all []time.Duration) {
	for at := step; at <= until; at += step {
		all = append(all, at)
	}
	return all
}

func TestHints(t *testing.T) {
	unpaced := func(time.Duration) time.Duration { return 0 }
	for _, test := range []struct {
		name  string
		hints []time.Duration
		want  []int
	}{
		{name: "none", want: nil},
		{name: "one is read at once and when it has settled", hints: []time.Duration{100 * time.Millisecond}, want: []int{100, 250}},
		{name: "three in a row cost two readings", hints: []time.Duration{100 * time.Millisecond, 150 * time.Millisecond, 240 * time.Millisecond}, want: []int{100, 390}},
		{name: "two apart are two", hints: []time.Duration{100 * time.Millisecond, 900 * time.Millisecond}, want: []int{100, 250, 900, 1050}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is.New(t).Equal(fmt.Sprint(plan(5*time.Second, test.hints, unpaced)), fmt.Sprint(test.want))
		})
	}
}

// A cable that flaps every 20 ms for ten seconds is 500 hints.
func TestFlappingCable(t *testing.T) {
	is := is.New(t)
	readings := plan(12*time.Second, every(20*time.Millisecond, 10*time.Second), func(time.Duration) time.Duration { return 0 })
	is.True(len(readings) <= 22) // two a second at most
	last := readings[len(readings)-1]
	is.True(last >= 10000) // and the final state is read
	for i := 1; i < len(readings); i++ {
		is.True(readings[i]-readings[i-1] <= int(Longest.Milliseconds())+20) // nor is it unread for long
	}
}

func TestPace(t *testing.T) {
	is := is.New(t)
	watched := func(at time.Duration) time.Duration {
		if at < 2*time.Second {
			return 500 * time.Millisecond
		}
		return 0
	}
	is.Equal(plan(10*time.Second, nil, watched), []int{0, 500, 1000, 1500}) // and nothing after nobody watches
}
