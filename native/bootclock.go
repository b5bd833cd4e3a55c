package native

import (
	"sync"
	"time"
)

// Clock measures time so that a machine's sleep counts. Leases, deadlines and
// beats run on it: a Mac that slept for an hour has let its 30-second lease run
// out, and must know so on its first instruction after waking.
//
// Go's own monotonic clock stops in sleep on both systems (it is
// mach_absolute_time on macOS and CLOCK_MONOTONIC on Linux), and so do its
// timers: one armed for 30 s fires after 30 s awake, however long the sleep in
// between. Timers of this clock are corrected in two ways. Whoever hears that
// the machine woke calls Recheck, and every timer that is due runs at once.
// And no underlying timer is armed for longer than [MaxTimerStep], so that
// without any such notice a timer is late by at most that much after a sleep.
// Code that must not act after its time compares Boot with its deadline when it
// acts; a timer only wakes it.
type Clock interface {
	// Now returns the wall-clock time, for people. It can jump.
	Now() time.Time

	// Boot returns the time since a fixed point in this boot, sleep included.
	// It never goes backwards and means nothing on another machine or boot.
	Boot() time.Duration

	// AfterFunc runs f on a goroutine of its own once d has passed on Boot. A
	// d of zero or less runs it at once.
	AfterFunc(d time.Duration, f func()) Timer

	// Recheck compares all timers with Boot and runs those that are due. It is
	// to be called when the machine has woken; calling it for nothing is
	// harmless.
	Recheck()
}

// Timer is one pending call.
type Timer interface {
	// Stop prevents the call and reports whether it did. False means that it
	// has run, is running, or was stopped before.
	Stop() bool
}

// MaxTimerStep is the longest that an underlying timer is armed for, and so the
// longest a timer can be late after a sleep that nobody announced. It is a
// third of the lease, and costs an idle process one wake-up per step and
// pending timer at most.
const MaxTimerStep = 10 * time.Second

// SystemClock returns the clock of this machine. Where the system has no clock
// that counts sleep, or it was built without cgo on macOS, the error matches
// [ErrUnsupported].
func SystemClock() (Clock, error) {
	boot, err := systemBoot()
	if err != nil {
		return nil, err
	}
	return ClockFrom(time.Now, boot), nil
}

// ClockFrom makes a clock of a wall clock and a boot clock, its timers being
// corrected Go timers. In a testing/synctest bubble, time.Now and a boot clock
// derived from time.Since run on the bubble's time; add a growing offset to
// simulate sleep.
func ClockFrom(now func() time.Time, boot func() time.Duration) Clock {
	return &bootClock{now: now, boot: boot, timers: map[*bootTimer]struct{}{}}
}

type bootClock struct {
	now  func() time.Time
	boot func() time.Duration

	mu     sync.Mutex
	timers map[*bootTimer]struct{} // pending ones only
}

type bootTimer struct {
	clock *bootClock
	due   time.Duration
	call  func()
	under *time.Timer // guarded by clock.mu
}

func (c *bootClock) Now() time.Time      { return c.now() }
func (c *bootClock) Boot() time.Duration { return c.boot() }

func (c *bootClock) AfterFunc(d time.Duration, f func()) Timer {
	t := &bootTimer{clock: c, due: c.boot() + max(d, 0), call: f}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers[t] = struct{}{}
	t.under = time.AfterFunc(c.step(max(d, 0)), t.check)
	return t
}

// step is how long an underlying timer is armed for that has so long to go. The
// steps of all timers end together: a wake-up that many share costs what one
// does.
func (c *bootClock) step(left time.Duration) time.Duration {
	if left <= MaxTimerStep {
		return left
	}
	return MaxTimerStep - c.boot()%MaxTimerStep
}

// check runs when the underlying timer fires: the time may not have come yet
// (a step), and is never early (Boot runs at least as fast as Go's clock).
func (t *bootTimer) check() {
	c := t.clock
	c.mu.Lock()
	if _, pending := c.timers[t]; !pending {
		c.mu.Unlock()
		return
	}
	if left := t.due - c.boot(); left > 0 {
		t.under.Reset(c.step(left))
		c.mu.Unlock()
		return
	}
	delete(c.timers, t)
	c.mu.Unlock()
	t.call()
}

func (t *bootTimer) Stop() bool {
	c := t.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, pending := c.timers[t]; !pending {
		return false
	}
	delete(c.timers, t)
	t.under.Stop()
	return true
}

func (c *bootClock) Recheck() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.boot()
	for t := range c.timers {
		if t.due <= now {
			// check runs on the timer's own goroutine, and once only: whoever
			// comes second finds it no longer pending.
			t.under.Reset(0)
		}
	}
}
