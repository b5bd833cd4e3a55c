package proc

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
	"fulmen/native/nativetest"
)

// asleep runs a worker and lets the machine sleep while it works; what happens
// after that is the caller's.
func asleep(t *testing.T, c Command, sleep time.Duration) (*nativetest.Clock, <-chan Record) {
	t.Helper()
	leaks(t)
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	works := make(chan struct{})
	var once sync.Once
	c.Progress = func(p worker.Progress) {
		if p.Stage == "waiting" {
			once.Do(func() { close(works) })
		}
	}
	ended := make(chan Record, 1)
	go func() { ended <- Run(context.Background(), clock, c) }()
	<-works
	clock.Sleep(sleep)
	clock.Recheck()
	return clock, ended
}

// until moves the clock until the run has ended.
func until(t *testing.T, clock *nativetest.Clock, ended <-chan Record) Record {
	t.Helper()
	var r Record
	soon(t, "the run's end", func() bool {
		select {
		case r = <-ended:
			return true
		default:
			clock.Advance(10 * time.Millisecond)
			return false
		}
	})
	return r
}

func TestDeadlineCountsSleep(t *testing.T) {
	is := is.New(t)
	c := fakeCommand(t, "obeys", "")
	c.Deadline, c.Silence, c.Grace = time.Hour, 24*time.Hour, time.Hour
	clock, ended := asleep(t, c, 2*time.Hour)
	r := until(t, clock, ended)
	is.Equal(r.Outcome, TooLong)
	is.True(r.Took >= 2*time.Hour)
	is.Equal(r.EndedAt.Sub(r.StartedAt), r.Took)
	is.Equal(r.Sentence, "The worker was not done after 1h and was ended, in: waiting.")
}

// A worker that slept with the machine was not silent of its own accord.
func TestSleepIsNoHang(t *testing.T) {
	is := is.New(t)
	c := fakeCommand(t, "obeys", "")
	c.Deadline, c.Silence, c.Grace = 24*time.Hour, time.Minute, time.Hour
	clock, ended := asleep(t, c, 2*time.Hour)
	r := until(t, clock, ended)
	is.Equal(r.Outcome, Hung)
	is.True(r.Took >= 2*time.Hour+time.Minute) // it got its minute again
}
