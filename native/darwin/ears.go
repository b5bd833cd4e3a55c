package darwin

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"fulmen/native"
)

// line is an armed watch of the system.
type line interface {
	// armed is nil, or why a source is silent.
	armed(source int) error
	// allow lets the system go on with what a power notice announced.
	allow(notice int64) error
	// close disarms everything; once it has returned nothing comes any more.
	close() error
}

// ears share one line among all who listen: it is opened for the first and closed
// after the last.
type ears struct {
	open  func(hear func(announcement)) (line, error)
	clock native.Clock

	opening sync.Mutex // one opens or closes at a time
	line    line       // guarded by opening

	mu        sync.Mutex // of what follows; held while somebody is told
	listeners map[int]listener
	next      int
	pending   map[int64]bool // power notices that wait for an acknowledgement
}

// listener is told what it has a function for.
type listener struct {
	hint   func(native.Hint)
	notice func(native.PowerNotice)
	// every is told of each announcement as it came.
	every func(announcement)
}

func newEars(clock native.Clock, open func(func(announcement)) (line, error)) *ears {
	return &ears{open: open, clock: clock, listeners: map[int]listener{}, pending: map[int64]bool{}}
}

// listen tells l until stop has returned.
func (e *ears) listen(l listener) (stop func() error, err error) {
	e.opening.Lock()
	defer e.opening.Unlock()
	if e.line == nil {
		if e.line, err = e.open(e.hear); err != nil {
			e.line = nil
			return nil, err
		}
	}
	e.mu.Lock()
	id := e.next
	e.next++
	e.listeners[id] = l
	e.mu.Unlock()
	return sync.OnceValue(func() error { return e.forget(id) }), nil
}

func (e *ears) forget(id int) error {
	e.opening.Lock()
	defer e.opening.Unlock()
	e.mu.Lock()
	delete(e.listeners, id)
	last := len(e.listeners) == 0
	e.mu.Unlock()
	if !last || e.line == nil {
		return nil
	}
	closing := e.line
	e.line = nil
	return closing.close()
}

// closeAll forgets everybody.
func (e *ears) closeAll() error {
	e.mu.Lock()
	ids := slices.Collect(maps.Keys(e.listeners))
	e.mu.Unlock()
	var err error
	for _, id := range ids {
		err = errors.Join(err, e.forget(id))
	}
	return err
}

// hear runs on the system's thread.
func (e *ears) hear(a announcement) {
	now := native.Hint{Source: a.Source(), Subject: a.subject, At: native.Stamp(e.clock.Now()), BootUS: e.clock.Boot().Microseconds()}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.inOrder() {
		if l.every != nil {
			l.every(a)
		}
		for _, area := range a.areas() {
			if now.Area = area; l.hint != nil {
				l.hint(now)
			}
		}
	}
	if a.source == fromPower {
		e.announce(a, now.At)
	}
}

// hint tells of an area by a source of Go's own.
func (e *ears) hint(h native.Hint) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.inOrder() {
		if l.hint != nil {
			l.hint(h)
		}
	}
}

func (e *ears) inOrder() []listener {
	all := make([]listener, 0, len(e.listeners))
	for _, id := range slices.Sorted(maps.Keys(e.listeners)) {
		all = append(all, e.listeners[id])
	}
	return all
}

// sleepWaitsS is how long the system waits for the answer to a notice, as
// IOAllowPowerChange documents it.
const sleepWaitsS = 30

// announce tells a power notice. Where nobody wants notices the answer is given at
// once, for the system waits for every process that has asked for them.
func (e *ears) announce(a announcement, at native.Timestamp) {
	n := native.PowerNotice{Event: native.PowerEvent(a.event), At: at}
	if n.Event != native.PowerAwake {
		n.ID, n.WithinS = strconv.FormatInt(a.id, 10), sleepWaitsS
	}
	told := false
	for _, l := range e.inOrder() {
		if l.notice != nil {
			if n.ID != "" && !told {
				e.pending[a.id] = true
			}
			told = true
			l.notice(n)
		}
	}
	if !told && n.ID != "" {
		// On a goroutine, because the line is guarded by a lock that whoever
		// closes it holds while this thread is waited for.
		go func() { _ = e.allow(a.id) }()
	}
}

// acknowledge answers a notice.
func (e *ears) acknowledge(id string) error {
	number, err := strconv.ParseInt(id, 10, 64)
	e.mu.Lock()
	waits := err == nil && e.pending[number]
	delete(e.pending, number)
	e.mu.Unlock()
	if !waits {
		return native.ErrNotFound
	}
	return e.allow(number)
}

func (e *ears) allow(notice int64) error {
	e.opening.Lock()
	defer e.opening.Unlock()
	if e.line == nil {
		return native.ErrNotFound // with the line the registration went, and with that the wait
	}
	return e.line.allow(notice)
}

// armed is nil, or why a source is silent.
func (e *ears) armed(source int) error {
	e.opening.Lock()
	defer e.opening.Unlock()
	if e.line == nil {
		return native.ErrClosed
	}
	return e.line.armed(source)
}

// Who speaks, as watch.h numbers them; thermal pressure is heard by Go.
const (
	fromWatch = iota
	fromIOKit
	fromStore
	fromPreferences
	fromPower
	fromPowerSource
	fromPressure
	fromThermal
)

// sourceNames are the first halves of a hint's source.
var sourceNames = map[int]string{
	fromWatch: "watch", fromIOKit: "iokit", fromStore: "configd", fromPreferences: "preferences",
	fromPower: "power", fromPowerSource: "power_source", fromPressure: "pressure", fromThermal: "thermal",
}

// busyStateChange is the message by which a service says that it is being set up:
// what comes of it is announced by itself.
const busyStateChange = 0xE0000120

// announcement is one callback of the system.
type announcement struct {
	source int
	// event is what happened, subject what it happened to: a class of the
	// registry, a key of the dynamic store.
	event, subject string
	// id is a registry id, or the number of a power notice; detail a message.
	id, detail int64
}

// Source is the name of a hint that comes of it.
func (a announcement) Source() string { return sourceNames[a.source] + "." + a.event }

// areas are those whose facts it may have changed. RDMA follows from cables, from
// interfaces and from their addresses.
func (a announcement) areas() []native.Area {
	switch a.source {
	case fromIOKit:
		return a.iokitAreas()
	case fromStore:
		switch {
		case a.subject == "Setup:/System" || a.subject == "Setup:/Network/HostNames":
			return []native.Area{native.AreaIdentity}
		case strings.HasPrefix(a.subject, "State:/Network/Interface"):
			return []native.Area{native.AreaNetwork, native.AreaRDMA}
		}
		return []native.Area{native.AreaNetwork}
	case fromPreferences:
		return []native.Area{native.AreaNetwork}
	case fromPower:
		if a.event == string(native.PowerAwake) {
			return []native.Area{native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA, native.AreaSystem}
		}
	case fromPowerSource, fromThermal:
		return []native.Area{native.AreaSystem}
	case fromPressure:
		return []native.Area{native.AreaMemory}
	}
	return nil
}

func (a announcement) iokitAreas() []native.Area {
	switch {
	case a.event == "interest" && uint32(a.detail) == busyStateChange:
		return nil
	case a.subject == kindIPPort || a.subject == kindInterface:
		return []native.Area{native.AreaThunderbolt, native.AreaNetwork, native.AreaRDMA}
	case a.subject == kindRDMA || a.subject == "IODTNVRAM":
		return []native.Area{native.AreaRDMA}
	}
	return []native.Area{native.AreaThunderbolt, native.AreaRDMA}
}
