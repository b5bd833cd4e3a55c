package proc

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
	"fulmen/native"
	"fulmen/native/nativetest"
)

// alarmClock is a clock moved by hand that tells which alarms are set.
type alarmClock struct {
	*nativetest.Clock
	set chan time.Duration
}

func (c alarmClock) AfterFunc(d time.Duration, f func()) native.Timer {
	defer func() { c.set <- d }()
	return c.Clock.AfterFunc(d, f)
}

// asleep runs a worker and lets the machine sleep while it works; what happens
// after that is the caller's.
func asleep(t *testing.T, c Command, sleep time.Duration) (alarmClock, <-chan Record) {
	t.Helper()
	leaks(t)
	clock := alarmClock{nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), make(chan time.Duration, 16)}
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
	is := is.New(t)
	is.Equal(<-clock.set, c.Deadline)
	is.Equal(<-clock.set, c.Silence)
	clock.Sleep(sleep)
	clock.Recheck()
	return clock, ended
}

func TestDeadlineCountsSleep(t *testing.T) {
	is := is.New(t)
	c := fakeCommand(t, "obeys", "")
	c.Deadline, c.Silence, c.Grace = time.Hour, 24*time.Hour, time.Hour
	_, ended := asleep(t, c, 2*time.Hour)
	r := <-ended
	is.Equal(r.Outcome, TooLong)
	is.Equal(r.Sentence, "The worker was not done after 1h and was ended, in: waiting.")
}

// A worker that slept with the machine was not silent of its own accord.
func TestSleepIsNoHang(t *testing.T) {
	is := is.New(t)
	c := fakeCommand(t, "obeys", "")
	c.Deadline, c.Silence, c.Grace = 24*time.Hour, time.Minute, time.Hour
	clock, ended := asleep(t, c, 2*time.Hour)
	is.Equal(<-clock.set, time.Minute) // it gets its minute again
	clock.Advance(time.Minute)
	r := <-ended
	is.Equal(r.Outcome, Hung)
}
