package native

import (
	"sync"
	"time"
)

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
