package memnet

import (
	"net"
	"os"
	"sync"
	"time"
)

// deadline is when reading or writing ends.
type deadline struct {
	mu     sync.Mutex
	passed chan struct{}
	timer  *time.Timer
	closed bool // the connection was closed by this side
}

func newDeadline() *deadline { return &deadline{passed: make(chan struct{})} }

// over is closed when the deadline has passed.
func (d *deadline) over() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passed
}

// err is why it is over.
func (d *deadline) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return net.ErrClosed
	}
	return os.ErrDeadlineExceeded
}

// set moves it; the zero time is never.
func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if isClosed(d.passed) {
		d.passed = make(chan struct{})
	}
	if at.IsZero() {
		return
	}
	passed := d.passed
	if wait := time.Until(at); wait > 0 {
		d.timer = time.AfterFunc(wait, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.passed == passed && !isClosed(passed) {
				close(passed)
			}
		})
		return
	}
	close(passed)
}

// close ends it for good.
func (d *deadline) close() {
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
