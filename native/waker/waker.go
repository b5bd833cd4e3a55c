// Package waker wakes a goroutine that works off whatever has come meanwhile.
// It belongs to no platform: it lies here because native and all above it wake.
package waker

// Waker wakes the one goroutine that receives from it. However often it is woken
// before it receives, it is woken once, and it never misses that there is something
// to do: it must look at everything that may have changed, and not count.
type Waker chan struct{}

// New gives a Waker that nobody has woken yet.
func New() Waker { return make(Waker, 1) }

// Wake has the receiver look again. It waits for nobody; on a nil Waker it does
// nothing.
func (w Waker) Wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}
