package nativetest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"fulmen/native"
)

// listeners hear everything that the machines of a cluster announce, in one order.
type listeners struct {
	stops []func() error

	mu       sync.Mutex
	received []announcement
	changed  chan struct{} // closed, and made anew, at each announcement
}

// announcement is a hint, or a power notice.
type announcement struct {
	mac    string
	area   native.Area
	notice native.PowerEvent
}

// newListeners watch every machine from now on, and let each sleep when it wants to.
func newListeners(ctx context.Context, platforms map[string]native.Platform) (*listeners, error) {
	e := &listeners{changed: make(chan struct{})}
	for mac, platform := range platforms {
		stop, err := platform.Facts.Watch(func(h native.Hint) { e.receive(announcement{mac: mac, area: h.Area}) })
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", mac, err), e.stop())
		}
		e.stops = append(e.stops, stop)
		stop, err = platform.Power.Notices(func(n native.PowerNotice) {
			e.receive(announcement{mac: mac, notice: n.Event})
			if n.ID != "" {
				// Not by the callback, which must not call back. That it came too late
				// is no error: the machine sleeps all the same.
				go func() { _ = platform.Power.Acknowledge(ctx, n.ID) }()
			}
		})
		if errors.Is(err, native.ErrUnsupported) {
			continue
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", mac, err), e.stop())
		}
		e.stops = append(e.stops, stop)
	}
	return e, nil
}

func (e *listeners) receive(a announcement) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.received = append(e.received, a)
	close(e.changed)
	e.changed = make(chan struct{})
}

// now is how much was heard so far.
func (e *listeners) now() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.received)
}

// since returns what was heard from mark on, and a channel that is closed when
// there is more.
func (e *listeners) since(mark int) ([]announcement, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.received[mark:len(e.received):len(e.received)], e.changed
}

func (e *listeners) stop() error {
	var err error
	for _, stop := range e.stops {
		err = errors.Join(err, stop())
	}
	return err
}
