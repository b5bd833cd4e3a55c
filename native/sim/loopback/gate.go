package loopback

import (
	"sync"
	"syscall"
)

// gate is whether what arrives may pass.
type gate struct {
	mu      sync.Mutex
	cut     bool
	broken  error
	changed chan struct{} // closed when anything of this changes
	onBreak func()        // set once the connection is there
}

func newGate() *gate { return &gate{changed: make(chan struct{})} }

// set is the exchange's callback.
func (g *gate) set(s State) {
	if s == Dead {
		g.breakWith(syscall.ETIMEDOUT)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = s == Cut
	g.wake()
}

// breakWith ends the connection for good; the first reason stays.
func (g *gate) breakWith(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken != nil {
		return
	}
	g.broken = err
	g.wake()
	if g.onBreak != nil {
		g.onBreak()
	}
}

// whenBroken has f done when it breaks, at once where it has.
func (g *gate) whenBroken(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken != nil {
		f()
		return
	}
	g.onBreak = f
}

// unlessBroken does f where it has not broken, and not while it breaks.
func (g *gate) unlessBroken(f func() error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken != nil {
		return nil
	}
	return f()
}

// wake lets who waits look again. The caller holds mu.
func (g *gate) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// look tells how it is, and gives a channel that is closed when that changes.
func (g *gate) look() (cut bool, changed <-chan struct{}, broken error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cut, g.changed, g.broken
}
