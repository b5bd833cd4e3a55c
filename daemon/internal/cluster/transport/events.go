package transport

import (
	"sync"

	"fulmen/native/waker"
)

// events delivers path events in order, outside of every lock.
type events struct {
	mu          sync.Mutex
	queue       []delivery
	subscribers map[int]func(PathEvent)
	next        int
	more        waker.Waker
	done        chan struct{}
	once        sync.Once
}

// delivery is an event for all, or for one who has just subscribed.
type delivery struct {
	event PathEvent
	only  func(PathEvent)
}

func (e *events) init() {
	e.subscribers = map[int]func(PathEvent){}
	e.more = waker.New()
	e.done = make(chan struct{})
}

func (e *events) subscribe(f func(PathEvent)) (stop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next++
	number := e.next
	e.subscribers[number] = f
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.subscribers, number)
	}
}

// add queues an event; only, if it is there, is the one who gets it.
func (e *events) add(event PathEvent, only func(PathEvent)) {
	e.mu.Lock()
	e.queue = append(e.queue, delivery{event, only})
	e.mu.Unlock()
	e.more.Wake()
}

func (e *events) deliver() {
	for {
		select {
		case <-e.done:
			return
		case <-e.more:
		}
		for {
			e.mu.Lock()
			if len(e.queue) == 0 {
				e.mu.Unlock()
				break
			}
			next := e.queue[0]
			e.queue = e.queue[1:]
			to := []func(PathEvent){next.only}
			if next.only == nil {
				to = to[:0]
				for number := 1; number <= e.next; number++ {
					if f := e.subscribers[number]; f != nil {
						to = append(to, f)
					}
				}
			}
			e.mu.Unlock()
			for _, f := range to {
				f(next.event)
			}
		}
	}
}

func (e *events) close() { e.once.Do(func() { close(e.done) }) }
