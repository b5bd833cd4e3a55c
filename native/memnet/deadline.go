package memnet

import (
	"net"
	"os"
	"sync"
	"time"
)

// Deadline is when reading or writing a connection ends, as net.Conn has it: it
// can be moved while somebody waits for it, and it is over at once when the
// connection is closed.
type Deadline struct {
	mu     sync.Mutex
	passed chan struct{}
	timer  *time.Timer
	moves  int  // how often it was set
	closed bool // the connection was closed by this side
}

// NewDeadline returns one that never passes until it is set.
func NewDeadline() *Deadline { return &Deadline{passed: make(chan struct{})} }

// Over is closed when the deadline has passed. Who waits for it asks again after
// each Set.
func (d *Deadline) Over() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passed
}

// Err is why it is over: [net.ErrClosed] or [os.ErrDeadlineExceeded].
func (d *Deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	return os.ErrDeadlineExceeded
}

// Set moves it; the zero time is never.
func (d *Deadline) Set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	d.moves++
	if isClosed(d.passed) {
		d.passed = make(chan struct{})
	}
	if at.IsZero() {
		return
	}
	move := d.moves
	if wait := time.Until(at); wait > 0 {
		d.timer = time.AfterFunc(wait, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			// One that was moved while its timer fired is not over.
			if d.moves == move && !isClosed(d.passed) {
				close(d.passed)
			}
		})
		return
	}
	close(d.passed)
}

// Close ends it for good.
func (d *Deadline) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.timer != nil {
		d.timer.Stop()
	}
	if !isClosed(d.passed) {
		close(d.passed)
	}
}
