package sim

import (
	"slices"
	"sync"
)

// subscriber is one callback with what it is still to be told. Everything but
// calling is guarded by the world's lock.
type subscriber struct {
	queue []func()
	// listed is true while somebody is handing out the queue, or will.
	listed  bool
	stopped bool
	// calling is held during each call, so that stop can wait for it.
	calling sync.Mutex
}

// tell queues a call. The caller holds the lock and calls talk after it.
func (w *World) tell(s *subscriber, call func()) {
	if s.stopped {
		return
	}
	s.queue = append(s.queue, call)
	if !s.listed {
		s.listed = true
		w.talking = append(w.talking, s)
	}
}

// talk hands out what is queued, outside the lock: each subscriber's calls in
// order and one at a time. A callback may call the world; what follows from that
// is queued behind it.
func (w *World) talk() {
	for {
		w.mu.Lock()
		if len(w.talking) == 0 {
			w.mu.Unlock()
			return
		}
		s := w.talking[0]
		w.talking = slices.Delete(w.talking, 0, 1)
		w.mu.Unlock()
		for w.tellNext(s) {
		}
	}
}

func (w *World) tellNext(s *subscriber) bool {
	s.calling.Lock()
	defer s.calling.Unlock()
	w.mu.Lock()
	if s.stopped || len(s.queue) == 0 {
		s.queue, s.listed = nil, false
		w.mu.Unlock()
		return false
	}
	call := s.queue[0]
	s.queue = s.queue[1:]
	w.mu.Unlock()
	call()
	return true
}

// stop ends a subscription: after it nothing more is called. The subscriber's
// own callback must not call it, for whose end it waits.
func (w *World) stop(s *subscriber) {
	s.calling.Lock()
	defer s.calling.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	s.stopped = true
}
