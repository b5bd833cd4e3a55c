package probe

import (
	"sync"
	"sync/atomic"
	"time"

	"fulmen/native"
)

// counter adds up what the connections of a direction received, and tells of
// it when it grows: nobody has to wake up to look.
type counter struct {
	clock native.Clock
	// tell gets a count every millisecond at first, and later every 10 ms, one
	// at a time.
	tell func(count)

	total atomic.Int64
	next  atomic.Int64 // the time of the next count

	mu    sync.Mutex // held while a count is told
	begun bool
	start time.Duration
}

// add is told what was read.
func (c *counter) add(n int) {
	c.total.Add(int64(n))
	now := c.clock.Boot()
	if int64(now) < c.next.Load() || !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if int64(now) < c.next.Load() {
		return
	}
	if !c.begun {
		c.begun, c.start = true, now
	}
	at := now - c.start
	c.next.Store(int64(now + min(max(at/16, time.Millisecond), 10*time.Millisecond)))
	c.tell(count{at: at, bytes: c.total.Load()})
}
