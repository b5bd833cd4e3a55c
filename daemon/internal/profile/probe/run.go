package probe

import (
	"context"
	"math/rand/v2"
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
	m.tell("round trips", 0)
	conn, err := m.open(forControl, 0)
	if err != nil {
		return err
	}
	defer conn.Close()
	go watch(m.ctx, clock, &m.seen, stalledAfter, func() { m.cancel(m.stalled()) })
	m.control = newControl(conn, &m.seen)
	trips, err := m.roundTrips()
	m.result.RTTUS, m.result.JitterUS, m.result.LossRatio = trips.median(), trips.jitter(), trips.loss()
	m.result.RTTSamples = len(trips.times)
	if err != nil || m.amount == AmountRTT {
		return err
	}
	m.noise = noise()
	rtt := time.Duration(*m.result.RTTUS * float64(time.Microsecond))
	if m.result.UpBitsPerS, err = m.transfer(forUp, planOf(m.amount, rtt, m.path.Streams), 0.1); err != nil {
		return err
	}
	if m.result.DownBitsPerS, err = m.transfer(forDown, planOf(m.amount, rtt, m.path.Streams), 0.55); err != nil {
		return err
	}
	m.tell("done", 1)
	return nil
}

const (
	// leastTrips is how many round trips count, at least; firstTrips are made
	// before and do not count: they find the routes and wake the processors.
	leastTrips = 10
	firstTrips = 2
)

// roundTrips makes at least leastTrips, and more as long as they take little time.
func (m *asking) roundTrips() (roundTrips, error) {
	most, while := 100, 300*time.Millisecond
	if m.amount == AmountRefresh {
		most, while = 30, 30*time.Millisecond
	}
	r := roundTrips{counted: true}
	if err := m.control.say(word{Say: sayEcho}); err != nil {
		return r, err
	}
	clock := m.prober.cfg.Clock
	began := clock.Boot()
	own, theirs := resent(m.control.conn), unknownCount
	for i := range firstTrips + most {
		if i >= firstTrips+leastTrips && clock.Boot()-began > while {
			break
		}
		asked := echo{number: max(rand.Uint64(), 1)} // nobody can answer it before it is asked
		sent := clock.Boot()
		if err := m.control.sendEcho(asked); err != nil {
			return r, err
		}
		got, err := m.control.hearEcho()
		if err != nil {
			return r, err
		}
		took := clock.Boot() - sent
		if got.number != asked.number {
			return r, m.implausible("it answered what was not asked")
		}
		ownNow := resent(m.control.conn)
		again := ownNow != own || i > 0 && got.resent != theirs
		own, theirs = ownNow, got.resent
		if own == unknownCount || theirs == unknownCount {
			r.counted = false
		}
		switch {
		case i < firstTrips:
		case again:
			r.lost++
		default:
			r.times = append(r.times, took)
		}
	}
	if err := m.control.sendEcho(echo{}); err != nil {
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
		e, err := c.hearEcho()
		if err != nil || e.number == 0 {
			return err
		}
		e.resent = resent(c.conn)
		if err := c.sendEcho(e); err != nil {
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
