package sim

import (
	"slices"
	"sync"

	"fulmen/native"
)

// subscriber is one callback with what it is still to be told. Everything but
// calling is guarded by the world's lock.
type subscriber struct {
	// What it wants to hear, of which it has one: hints, notices, or, by looking after
	// each change, what others announce.
	hint   func(native.Hint)
	notice func(native.PowerNotice)
	look   func()

	queue []func()
	// listed is true while somebody is handing out the queue, or will.
	listed  bool
	stopped bool
	// calling is held during each call, so that stop can wait for it.
	calling sync.Mutex
}

// subscribe tells a subscriber until stop. A notice that waits for a platform of which
// nobody listens any more counts as acknowledged.
func (h *handle) subscribe(s *subscriber) (stop func() error, err error) {
	w := h.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.ended {
		return nil, native.ErrClosed
	}
	h.subscribers = append(h.subscribers, s)
	remove := func() error {
		h.subscribers = slices.DeleteFunc(h.subscribers, func(other *subscriber) bool { return other == s })
		if !h.hasListeners() {
			w.acknowledgedLocked(h)
		}
		return nil
	}
	return func() error {
		if s.notice != nil {
			_ = w.change("sim.close", remove)
		} else {
			w.mu.Lock()
			_ = remove()
			w.mu.Unlock()
		}
		w.stop(s)
		return nil
	}, nil
}

// notifyLocked queues a call. The caller calls talk once it has let go of the lock.
func (w *World) notifyLocked(s *subscriber, call func()) {
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
		for w.callNext(s) {
		}
	}
}

func (w *World) callNext(s *subscriber) bool {
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
