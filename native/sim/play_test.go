package sim_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// bubble is a clock on the time of a synctest bubble.
func bubble() native.Clock {
	began := time.Now()
	return native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) })
}

func timeLine(s scenario.Scenario, events ...scenario.Event) scenario.Scenario {
	s.TimeLine = events
	return s
}

func TestPlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		w, err := sim.New(timeLine(cluster(2),
			scenario.Event{After: 0, Op: parse("plug a.tb1 b.tb1")},
			scenario.Event{After: 25 * time.Second, Op: parse("retrain a.tb1 40G")},
			scenario.Event{After: 25 * time.Second, Op: parse("unplug a.tb1")},
			scenario.Event{After: 40 * time.Second, Op: parse("plug a.tb1 b.tb1 20G")},
		), bubble())
		is.NoErr(err)
		defer w.Close()
		p, err := w.Platform("a")
		is.NoErr(err)
		began := time.Now()
		var when []time.Duration
		var status []string
		_, err = p.Facts.Watch(func(h native.Hint) {
			if h.Area == native.AreaThunderbolt {
				s, err := p.Facts.Snapshot(t.Context(), native.AreaThunderbolt)
				is.NoErr(err)
				when = append(when, time.Since(began))
				status = append(status, string(s.Thunderbolt.Ports[0].Status)+" "+h.Source)
			}
		})
		is.NoErr(err)
		is.NoErr(w.Play(t.Context()))
		is.Equal(when, []time.Duration{0, 25 * time.Second, 25 * time.Second, 40 * time.Second})
		is.Equal(status[3], "peer sim.plug")
		is.Equal(status[2], "empty sim.unplug")
	})
}

func TestPlayEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		w, err := sim.New(timeLine(cluster(1),
			scenario.Event{After: time.Minute, Op: parse("plug a.tb1 hub.up")},
			scenario.Event{After: 2 * time.Minute, Op: parse("unplug a.tb1")},
			scenario.Event{After: 3 * time.Minute, Op: parse("set a.thermal fair")},
		), bubble())
		is.NoErr(err)
		time.AfterFunc(90*time.Second, func() { _ = w.Apply(parse("unplug hub.up")) }) // somebody was quicker
		is.True(errors.Is(w.Play(t.Context()), native.ErrNotFound))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		is.Equal(w.Play(ctx), context.DeadlineExceeded)

		time.AfterFunc(time.Second, func() { _ = w.Close() })
		is.Equal(w.Play(t.Context()), native.ErrClosed)
		is.Equal(w.Play(t.Context()), native.ErrClosed)
	})
}

// A clock that is moved by hand has the events behind it when it has moved.
func TestPlayOnAClockMovedByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		b := newBench(t, timeLine(cluster(1), scenario.Event{After: time.Minute, Op: parse("set a.thermal fair")}))
		played := make(chan error)
		go func() { played <- b.Play(t.Context()) }()
		synctest.Wait()
		b.clock.Advance(time.Minute)
		is.Equal(b.hints(), []string{"a system sim.set "})
		is.NoErr(<-played)
	})
}
