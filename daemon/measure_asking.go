package daemon

import (
	"sync"
	"time"

	"fulmen/native"
)

const (
	// askAfter is how long after a job was placed measurements are looked at: one
	// that starts at once goes first.
	askAfter = 5 * time.Second
	// askFor is how long they are then wanted.
	askFor = time.Minute
)

// asking wants fresh measurements for a while after placement has read them: the
// next placement has use for them.
type asking struct {
	want  func() (done func())
	clock native.Clock

	mu     sync.Mutex
	closed bool
	timer  native.Timer
	done   func()
}

// ask says that placement has read measurements.
func (a *asking) ask() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.timer != nil {
		return
	}
	a.timer = a.clock.AfterFunc(askAfter, a.begin)
}

func (a *asking) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.done = a.want()
	a.timer = a.clock.AfterFunc(askFor, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.end()
	})
}

// end forgets it; the caller holds mu.
func (a *asking) end() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	if a.done != nil {
		a.done()
		a.done = nil
	}
}

func (a *asking) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.end()
}
