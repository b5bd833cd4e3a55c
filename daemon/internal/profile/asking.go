package profile

import (
	"sync"
	"time"

	"fulmen/native"
)

const (
	// wantedAfter is how long after a job was placed measurements are looked at: one
	// that starts at once goes first.
	wantedAfter = 5 * time.Second
	// wantedFor is how long they are then wanted.
	wantedFor = time.Minute
)

// Asking wants fresh measurements for a while after placement has read them: the
// next placement has use for them.
type Asking struct {
	want  func() (done func())
	clock native.Clock

	mu     sync.Mutex
	closed bool
	timer  native.Timer
	done   func()
}

// NewAsking wants them by want.
func NewAsking(clock native.Clock, want func() (done func())) *Asking {
	return &Asking{clock: clock, want: want}
}

// Ask says that placement has read measurements.
func (a *Asking) Ask() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.timer != nil {
		return
	}
	a.timer = a.clock.AfterFunc(wantedAfter, a.begin)
}

func (a *Asking) begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.done = a.want()
	a.timer = a.clock.AfterFunc(wantedFor, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.end()
	})
}

// end forgets it; the caller holds mu.
func (a *Asking) end() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
	if a.done != nil {
		a.done()
		a.done = nil
	}
}

// Close ends it.
func (a *Asking) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.end()
}
