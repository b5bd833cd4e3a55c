package probe

import (
	"math"
	"testing"
	"time"

	"github.com/matryer/is"
)

// run feeds a meter with counts every millisecond of a path whose speed, in
// bits a second, depends on the time since the number of connections changed and
// on that number; it returns the result and how long it took.
func (m *meter) run(speed func(since time.Duration, streams int) float64) (result int64, took time.Duration) {
	var bytes float64
	var since time.Duration
	streams := m.plan.streams
	for at := time.Duration(0); at < time.Minute; at += time.Millisecond {
		switch m.add(count{at: at, bytes: int64(bytes)}) {
		case stepMore, stepFewer:
			streams, since = m.plan.streams, 0
		case stepDone:
			return m.result(), at
		}
		since += time.Millisecond
		bytes += speed(since, streams) / 8e3
	}
	return 0, time.Minute
}

func TestMeter(t *testing.T) {
	steady := func(rate float64) func(time.Duration, int) float64 {
		return func(time.Duration, int) float64 { return rate }
	}
	// grows doubles its speed every 8 ms until it has reached its own.
	grows := func(most float64) func(time.Duration, int) float64 {
		return func(since time.Duration, _ int) float64 {
			return min(most, 1e6*math.Exp2(float64(since/time.Millisecond)/8))
		}
	}
	for _, c := range []struct {
		name    string
		plan    plan
		speed   func(time.Duration, int) float64
		want    float64
		streams int
		longest time.Duration
	}{
		{"steady", planOf(AmountFull, 0, 0, 1), steady(1e9), 1e9, 1, 1500 * time.Millisecond},
		{"slow start", planOf(AmountFull, 0, 0, 1), grows(1e10), 1e10, 1, 2 * time.Second},
		{"a long way", planOf(AmountFull, 20*time.Millisecond, 0, 1), grows(1e9), 1e9, 1, 3 * time.Second},
		{"each connection has its share", planOf(AmountFull, 0, 0, 1), func(_ time.Duration, n int) float64 { return 3e9 * float64(min(n, 3)) }, 9e9, 4, 2 * time.Second},
		{"more connections are in each other's way", planOf(AmountFull, 0, 0, 1), func(_ time.Duration, n int) float64 { return 9e9 / float64(n) }, 9e9, 1, 2 * time.Second},
		{"a bucket that runs empty", planOf(AmountFull, 0, 0, 1), func(since time.Duration, _ int) float64 {
			if since < 20*time.Millisecond {
				return 1e10
			}
			return 1e8
		}, 1e8, 1, 3 * time.Second},
		{"never at rest", planOf(AmountFull, 0, 0, 1), func(since time.Duration, _ int) float64 { return 1e6 * float64(since/time.Millisecond) }, 0, 1, 5 * time.Second},
		{"refresh of what is fast", planOf(AmountRefresh, 0, 4, 1), steady(4e10), 4e10, 4, 30 * time.Millisecond},
		{"refresh of what is slow", planOf(AmountRefresh, 0, 1, 1), steady(1e7), 1e7, 1, 100 * time.Millisecond},
		{"refresh without knowing more", planOf(AmountRefresh, 0, 0, 1), steady(1e9), 1e9, 2, 100 * time.Millisecond},
		{"refresh after slow start", planOf(AmountRefresh, 8*time.Millisecond, 1, 1), grows(1e9), 1e9, 1, 300 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			m := newMeter(c.plan)
			result, took := m.run(c.speed)
			if c.want != 0 {
				is.True(math.Abs(float64(result)-c.want) < 0.02*c.want)
			}
			is.Equal(m.streams, c.streams)
			is.True(took <= c.longest)
			if c.plan.find {
				is.True(m.to.at-m.from.at >= time.Second)
			} else {
				is.True(m.to.at-m.from.at >= 50*time.Millisecond || m.to.bytes-m.from.bytes >= 32<<20)
			}
		})
	}
}

// What counts there are, the meter ends and uses as many connections as it may.
func FuzzMeter(f *testing.F) {
	f.Add([]byte{1, 1, 1, 1, 200, 3, 0, 0}, true)
	f.Fuzz(func(t *testing.T, data []byte, full bool) {
		amount := AmountRefresh
		if full {
			amount = AmountFull
		}
		m := newMeter(planOf(amount, 0, 3, 1))
		var c count
		for i := 0; i+1 < len(data); i += 2 {
			c.at += time.Duration(data[i]) * time.Millisecond
			c.bytes += int64(data[i+1]) << 12
			before := m.streams
			switch step := m.add(c); {
			case step == stepMore && m.streams <= before, step == stepFewer && m.streams >= before, m.streams < 1, m.streams > maxStreams:
				t.Fatal(step, before, m.streams)
			case step == stepDone:
				if m.result() < 0 {
					t.Fatal(m.result())
				}
				return
			}
		}
	})
}
