package nativetest

import (
	"slices"
	"sync"
	"time"

	"fulmen/native"
)

// Clock is a [native.Clock] that stands still until it is moved. Due calls run
// on the goroutine that moves it, in order of their time, so that their effects
// are there when Advance returns.
type Clock struct {
	mu     sync.Mutex
	wall   time.Time
	boot   time.Duration
	timers []*manualTimer
}

type manualTimer struct {
	clock *Clock
	due   time.Duration
	call  func()
}

// NewClock returns a clock that stands at the given wall-clock time, one hour
// after its boot.
func NewClock(wall time.Time) *Clock { return &Clock{wall: wall, boot: time.Hour} }

// Now returns the wall-clock time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// Boot returns the time since boot.
func (c *Clock) Boot() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.boot
}

// AfterFunc notes a call. Unlike a real clock it does not run it by itself,
// even when d is zero: the next Advance or Recheck does.
func (c *Clock) AfterFunc(d time.Duration, f func()) native.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &manualTimer{clock: c, due: c.boot + max(d, 0), call: f}
	c.timers = append(c.timers, t)
	return t
}

// Advance moves both clocks by d, stopping at each timer on the way.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	end := c.boot + d
	c.mu.Unlock()
	for c.runNext(end) {
	}
	c.moveTo(end)
}

// Sleep moves both clocks by d as a sleeping machine does: nothing runs.
func (c *Clock) Sleep(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.boot += d
	c.wall = c.wall.Add(d)
}

// Step moves the wall clock alone, as a person or a time server does.
func (c *Clock) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}

// Recheck runs what is due.
func (c *Clock) Recheck() { c.Advance(0) }

// Pending returns how many calls wait; a test of a long-lived part ends with 0.
func (c *Clock) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.timers)
}

// runNext runs the earliest call due by end and reports whether there was one.
func (c *Clock) runNext(end time.Duration) bool {
	c.mu.Lock()
	next := -1
	for i, t := range c.timers {
		if t.due <= end && (next < 0 || t.due < c.timers[next].due) {
			next = i
		}
	}
	if next < 0 {
		c.mu.Unlock()
		return false
	}
	t := c.timers[next]
	c.timers = append(c.timers[:next], c.timers[next+1:]...)
	c.mu.Unlock()
	c.moveTo(t.due)
	t.call()
	return true
}

// moveTo moves forward only: a call that itself advanced the clock may have
// gone further.
func (c *Clock) moveTo(boot time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if boot > c.boot {
		c.wall = c.wall.Add(boot - c.boot)
		c.boot = boot
	}
}

func (t *manualTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	waiting := len(t.clock.timers)
	t.clock.timers = slices.DeleteFunc(t.clock.timers, func(other *manualTimer) bool { return other == t })
	return len(t.clock.timers) < waiting
}
