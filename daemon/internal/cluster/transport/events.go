package transport

import (
	"sync"

	"fulmen/native"
	"fulmen/native/waker"
)

// events delivers path events in order, outside of every lock.
type events struct {
	mu          sync.Mutex
	queue       []delivery
	subscribers waker.Listeners[func(PathEvent)]
	more        waker.Waker
}

// delivery is an event for all, or for one who has just subscribed.
type delivery struct {
	event PathEvent
	only  func(PathEvent)
}

// add queues an event; only, if it is there, is the one who gets it.
func (e *events) add(event PathEvent, only func(PathEvent)) {
	e.mu.Lock()
	e.queue = append(e.queue, delivery{event, only})
	e.mu.Unlock()
	e.more.Wake()
}

// take takes out all that is queued.
func (e *events) take() []delivery {
	e.mu.Lock()
	defer e.mu.Unlock()
	queue := e.queue
	e.queue = nil
	return queue
}

func (t *Transport) deliver() {
	for native.Wait(t.ctx, t.options.Clock, native.Forever, t.events.more) {
		for _, next := range t.events.take() {
			to := []func(PathEvent){next.only}
			if next.only == nil {
				to = t.events.subscribers.All()
			}
			for _, f := range to {
				f(next.event)
			}
		}
	}
}
