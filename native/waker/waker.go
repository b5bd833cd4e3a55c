// Package waker wakes a goroutine that works off whatever has come meanwhile.
// It belongs to no platform: it lies here because native and all above it wake.
package waker

import (
	"slices"
	"sync"
)

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

// Group are goroutines that wait for the same, each with a Waker of its own. Its zero
// value is ready.
type Group struct{ Listeners[Waker] }

// Add gives a Waker that is woken with the others from now on, until stop.
func (g *Group) Add() (w Waker, stop func()) {
	w = New()
	return w, g.Listeners.Add(w)
}

// Wake wakes all that wait.
func (g *Group) Wake() {
	for _, w := range g.All() {
		w.Wake()
	}
}

// Listeners are functions that are called when something happens. Its zero value is
// ready.
type Listeners[F any] struct {
	mu  sync.Mutex
	all []*F
}

// Add has one called until it is stopped.
func (l *Listeners[F]) Add(f F) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, &f)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = slices.DeleteFunc(l.all, func(o *F) bool { return o == &f })
	}
}

// All are those who are to be called now, in the order in which they were added.
func (l *Listeners[F]) All() []F {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]F, len(l.all))
	for i, f := range l.all {
		all[i] = *f
	}
	return all
}
