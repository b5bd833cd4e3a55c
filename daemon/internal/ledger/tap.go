package ledger

import (
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native/waker"
)

// tapSize is how many events a tap holds for its reader.
const tapSize = 1024

// TapEvent is one thing that happened in the ledger, for debugging.
type TapEvent struct {
	// At is when.
	At time.Time
	// Type says what.
	Type TapType
	// By is the writer or the watcher.
	By string
	// Key and Version are of the document, where it is about one.
	Key     api.Key
	Version api.Version
}

// TapType says what happened.
type TapType string

const (
	// TapPut is a document that was published.
	TapPut TapType = "put"
	// TapDelete is a document that was deleted.
	TapDelete TapType = "delete"
	// TapForget is a document of another node that was dropped.
	TapForget TapType = "forget"
	// TapWatch is a watcher that began.
	TapWatch TapType = "watch"
	// TapUnwatch is a watcher that was closed.
	TapUnwatch TapType = "unwatch"
	// TapLagged is a watcher that fell behind and is over.
	TapLagged TapType = "lagged"
)

// tapSet is the taps that are open. Ledger.mu guards it.
type tapSet struct{ all []*Tap }

func (s *tapSet) none() bool { return len(s.all) == 0 }

func (s *tapSet) add(e TapEvent) {
	for _, t := range s.all {
		t.add(e)
	}
}

// Tap sees everything that happens in a ledger. Unlike a watcher it loses the
// oldest events when its reader is slow, and says how many.
type Tap struct {
	ledger *Ledger
	wake   waker.Waker

	mu      sync.Mutex
	events  []TapEvent
	dropped uint64
}

// Tap opens a tap. The caller must Close it; while none is open it costs nothing.
func (l *Ledger) Tap() *Tap {
	t := &Tap{ledger: l, wake: waker.New()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taps.all = append(l.taps.all, t)
	return t
}

// Close ends the tap. It may be repeated.
func (t *Tap) Close() {
	l := t.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taps.all = slices.DeleteFunc(l.taps.all, func(o *Tap) bool { return o == t })
}

func (t *Tap) add(e TapEvent) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) == tapSize {
		// The older half goes at once, so that a full tap does not move its events each time.
		t.dropped += tapSize / 2
		t.events = append(t.events[:0], t.events[tapSize/2:]...)
	}
	t.events = append(t.events, e)
	t.wake.Wake()
}

// Next waits for events and gives them, the oldest first, with the number of
// those lost before them. Its error is the context's.
func (t *Tap) Next(ctx context.Context) (events []TapEvent, dropped uint64, err error) {
	for {
		t.mu.Lock()
		events, dropped = t.events, t.dropped
		t.events, t.dropped = nil, 0
		t.mu.Unlock()
		if len(events) > 0 {
			return events, dropped, nil
		}
		select {
		case <-t.wake:
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
}
