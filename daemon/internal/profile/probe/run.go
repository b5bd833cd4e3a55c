package probe

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"fulmen/native"
)

// run makes the measurement.
func (m *asking) run(within time.Duration) error {
	clock := m.prober.cfg.Clock
	if err := m.announce(within); err != nil {
		return err
	}
	end := clock.AfterFunc(within, func() {
		m.cancel(&native.DeadlineError{WaitingFor: "the measurement of the path to " + m.path.Peer.Display(), After: within})
	})
	defer end.Stop()
	m.notify("round trips", 0)
	conn, err := m.open(forControl, 0)
	if err != nil {
		return err
	}
	defer conn.Close()
	go watch(m.ctx, clock, &m.seen, stalledAfter, func() { m.cancel(m.stalled()) })
	m.control = newControl(conn, &m.seen)
	if err := m.measuresTogether(); err != nil {
		return err
	}
	rounds, err := m.roundTrips()
	m.result.RTTUS, m.result.JitterUS, m.result.LossRatio = rounds.median(), rounds.jitter(), rounds.loss()
	m.result.RTTSamples = len(rounds.times)
	if err != nil || m.amount == AmountRTT {
		return err
	}
	m.noise = noise()
	rtt := time.Duration(*m.result.RTTUS * float64(time.Microsecond))
	if m.result.UpBitsPerS, err = m.transfer(forUp, planOf(m.amount, rtt, m.path.Streams, 1+len(m.path.Beside)), 0.1); err != nil {
		return err
	}
	if m.result.DownBitsPerS, err = m.transfer(forDown, planOf(m.amount, rtt, m.path.Streams, 1+len(m.path.Beside)), 0.55); err != nil {
		return err
	}
	m.notify("done", 1)
	return nil
}

const (
	// leastRoundTrips is how many round trips count, at least; firstRoundTrips are made
	// before and do not count: they find the routes and wake the processors.
	leastRoundTrips = 10
	firstRoundTrips = 2
)

// roundTrips makes at least leastRoundTrips, and more as long as they take little time.
func (m *asking) roundTrips() (roundTrips, error) {
	most, while := 100, 300*time.Millisecond
	if m.amount == AmountRefresh {
		most, while = 30, 30*time.Millisecond
	}
	r := roundTrips{counted: true}
	if err := m.control.report(message{Kind: kindEcho}); err != nil {
		return r, err
	}
	clock := m.prober.cfg.Clock
	began := clock.Boot()
	own, theirs := resent(m.control.conn), unknownCount
	for i := range firstRoundTrips + most {
		if i >= firstRoundTrips+leastRoundTrips && clock.Boot()-began > while {
			break
		}
		asked := echo{number: max(rand.Uint64(), 1)} // nobody can answer it before it is asked
		sent := clock.Boot()
		if err := m.control.send(asked.bytes()); err != nil {
			return r, err
		}
		var got echo
		if err := m.control.receive(&got); err != nil {
			return r, err
		}
		took := clock.Boot() - sent
		if got.number != asked.number {
			return r, m.implausible("it answered another question than it was asked")
		}
		ownNow := resent(m.control.conn)
		again := ownNow != own || i > 0 && got.resent != theirs
		own, theirs = ownNow, got.resent
		if own == unknownCount || theirs == unknownCount {
			r.counted = false
		}
		switch {
		case i < firstRoundTrips:
		case again:
			r.lost++
		default:
			r.times = append(r.times, took)
		}
	}
	if err := m.control.send(echo{}.bytes()); err != nil {
		return r, err
	}
	if len(r.times) == 0 {
		return r, m.stalled()
	}
	return r, nil
}

// answerEchoes is the other end of roundTrips.
func (c *control) answerEchoes() error {
	for {
		var e echo
		if err := c.receive(&e); err != nil || e.number == 0 {
			return err
		}
		e.resent = resent(c.conn)
		if err := c.send(e.bytes()); err != nil {
			return err
		}
	}
}

// watch calls stalled where nothing is seen for so long, and half of that later
// at the latest. It ends with ctx.
func watch(ctx context.Context, clock native.Clock, seen *atomic.Int64, after time.Duration, stalled func()) {
	before, quiet := seen.Load(), 0
	// Nothing announces that nothing happens.
	for native.Pause(ctx, clock, after/2) {
		now := seen.Load()
		if quiet++; now != before {
			before, quiet = now, 0
		}
		if quiet == 2 {
			stalled()
			return
		}
	}
}

// roundTrips is what a series of round trips gave.
type roundTrips struct {
	times []time.Duration // of those that took no second try, in their order
	lost  int             // for which a system sent again
	// counted says that both systems tell what they sent again.
	counted bool
}

// median is that of the times, in microseconds.
func (r *roundTrips) median() *float64 {
	if len(r.times) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(r.times))
	middle := len(sorted) / 2
	at := sorted[middle]
	if len(sorted)%2 == 0 {
		at = (sorted[middle-1] + at) / 2
	}
	return micros(float64(at))
}

// jitter is the mean difference of consecutive times, in microseconds.
func (r *roundTrips) jitter() *float64 {
	if len(r.times) < 2 {
		return nil
	}
	var sum float64
	for i, t := range r.times[1:] {
		sum += math.Abs(float64(t - r.times[i]))
	}
	return micros(sum / float64(len(r.times)-1))
}

// loss is the part that took a second try.
func (r *roundTrips) loss() *float64 {
	tried := len(r.times) + r.lost
	if !r.counted || tried == 0 {
		return nil
	}
	ratio := float64(r.lost) / float64(tried)
	return &ratio
}

// micros is nanoseconds in microseconds, to a tenth.
func micros(ns float64) *float64 {
	us := math.Round(ns/100) / 10
	return &us
}
