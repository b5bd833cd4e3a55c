package view

import (
	"errors"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
)

// watchers are who waits for something derived to become another.
type watchers struct {
	mu      sync.Mutex
	waiting map[chan struct{}]bool
}

// add gives a channel that has a token whenever there may be something new; done
// ends that.
func (w *watchers) add() (wake <-chan struct{}, done func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting == nil {
		w.waiting = map[chan struct{}]bool{}
	}
	w.waiting[c] = true
	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waiting, c)
	}
}

// wake gives everybody a token.
func (w *watchers) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.waiting {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// derived is something that is derived anew after every change.
type derived[V any] interface {
	// watch gives it as it is, and a channel with a token whenever it may have
	// become another.
	watch() (now V, wake <-chan struct{}, done func())
	// Current is it as it is.
	Current() V
}

// stream gives a client something derived, and what changes after it. tell makes
// the message of a change, lagged the last word of a subscription that is over.
func stream[V, C any](c *server.Caller, of derived[V], diff func(before, after V) (C, bool),
	tell func(sub api.Subscription, n uint64, change C) any, lagged func(api.Subscription) any,
) (sub api.Subscription, first V, err error) {
	s, err := c.Subscribe(lagged)
	if err != nil {
		return sub, first, err
	}
	first, wake, done := of.watch()
	go func() {
		defer s.End()
		defer done()
		for seen := first; ; {
			select {
			case <-s.Done():
				return
			case <-wake:
			}
			now := of.Current()
			change, changed := diff(seen, now)
			if !changed {
				continue
			}
			seen = now
			err := s.Send("", func(n uint64) any { return tell(s.Sub(), n, change) })
			if errors.Is(err, api.ReasonMessageTooLarge) {
				_ = s.Send("", func(uint64) any { return lagged(s.Sub()) }) // the last word
			}
			if err != nil {
				return
			}
		}
	}()
	return s.Sub(), first, nil
}
