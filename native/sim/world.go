package sim

import (
	"fmt"
	"sync"
	"time"

	"fulmen/native"
	"fulmen/native/sim/loopback"
	"fulmen/native/sim/scenario"
)

// World is the state of a whole scenario. All methods may be called from any
// goroutine.
type World struct {
	scenario scenario.Scenario
	clock    native.Clock
	began    time.Time

	mu       sync.Mutex
	closed   bool
	ended    chan struct{} // closed by Close
	macs     []*mac        // in the scenario's order
	networks []*network
	cables   map[scenario.End]*cable // under both ends
	waits    map[*wait]struct{}
	flows    map[*flow]struct{}
	tokens   map[string]*flow
	// moved is closed at the next change, for who waits for a way; nil where
	// nobody does.
	moved chan struct{}
	// recorded are the paths of the scenario's link measurements, as they were
	// when the world began.
	recorded []*path
	// known are the facts of all Macs as of the last change, to compare with.
	known []native.Snapshot
	// talking are the subscribers that have something to be told.
	talking []*subscriber
}

// New builds the world of a scenario, which it copies. A scenario that no desk
// could hold is an error, also when it was not read from a file. Nothing moves
// by itself until [World.Play].
func New(s scenario.Scenario, clock native.Clock) (*World, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	w := &World{
		scenario: s, clock: clock, began: clock.Now(), ended: make(chan struct{}),
		cables: map[scenario.End]*cable{}, waits: map[*wait]struct{}{},
		flows: map[*flow]struct{}{}, tokens: map[string]*flow{},
	}
	w.build()
	w.settle(true)
	w.record()
	w.known = w.everything()
	return w, nil
}

// Scenario returns what the world was made of, not what it has become. It is
// not to be changed.
func (w *World) Scenario() scenario.Scenario { return w.scenario }

// Name returns that of the scenario.
func (w *World) Name() string { return w.scenario.Name }

// Macs returns the names of the Macs in the scenario's order.
func (w *World) Macs() []string {
	names := make([]string, len(w.macs))
	for i, m := range w.macs {
		names[i] = m.spec.Name
	}
	return names
}

// Platform returns one Mac as a platform. Each call makes an independent one:
// closing it ends its watches, announcements, wakefulness, listeners and
// connections and leaves the Mac as it is. It has no supervisor; who runs
// programs on this machine for the simulated one supplies that.
// [native.ErrNotFound] where there is no such Mac.
func (w *World) Platform(name string) (native.Platform, error) {
	return w.Attach(name, nil)
}

// Attach is Platform with sockets of the caller's making, of which the platform
// keeps nothing: who makes them closes them. nil are the world's own.
func (w *World) Attach(name string, sockets func(loopback.Exchange) native.Sockets) (native.Platform, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return native.Platform{}, native.ErrClosed
	}
	m := w.mac(name)
	if m == nil {
		return native.Platform{}, w.noMac(name)
	}
	h := &handle{world: w, mac: m}
	var own native.Sockets
	if sockets != nil {
		own = sockets(exchange{h})
	} else {
		h.sockets = loopback.New(exchange{h})
		own = h.sockets
	}
	m.handles[h] = struct{}{}
	return native.Platform{
		Name: platformName, Simulated: true,
		Facts: h, Clock: w.clock, Discovery: h, Power: h, Network: h, Sockets: own,
		Closers: []func() error{h.close},
	}.Complete()
}

// Close ends every platform, timer and watch. It waits for callbacks under way,
// so none of them may call it. Closing twice is harmless.
func (w *World) Close() error {
	w.mu.Lock()
	var handles []*handle
	if !w.closed {
		w.closed = true
		close(w.ended)
		for wait := range w.waits {
			wait.timer.Stop()
		}
		clear(w.waits)
	}
	for _, m := range w.macs {
		for h := range m.handles {
			handles = append(handles, h)
		}
	}
	w.mu.Unlock()
	for _, h := range handles {
		h.end()
	}
	return nil
}

// platformName is what snapshots say they come from.
const platformName = "sim"

func (w *World) mac(name string) *mac {
	return first(w.macs, func(m *mac) bool { return m.spec.Name == name })
}

func (w *World) network(name string) *network {
	return first(w.networks, func(n *network) bool { return n.spec.Name == name })
}

func (w *World) noMac(name string) error {
	return fmt.Errorf("no Mac %q in %q: %w", name, w.scenario.Name, native.ErrNotFound)
}

// wait is one call that the clock will make.
type wait struct{ timer native.Timer }

// afterLocked makes a change once d has passed, unless the world is closed or the
// wait is cancelled before.
func (w *World) afterLocked(d time.Duration, source string, f func()) *wait {
	pending := &wait{}
	w.waits[pending] = struct{}{}
	// The callback finds the timer set: it needs the lock that is held here.
	pending.timer = w.clock.AfterFunc(d, func() {
		_ = w.change(source, func() error {
			if _, still := w.waits[pending]; still {
				delete(w.waits, pending)
				f()
			}
			return nil
		})
	})
	return pending
}

// cancelLocked makes a wait never happen.
func (w *World) cancelLocked(pending *wait) {
	if pending != nil {
		pending.timer.Stop()
		delete(w.waits, pending)
	}
}
