package sim

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

const (
	// AcknowledgeWithin is how long a Mac waits for a notice's acknowledgement,
	// as IOAllowPowerChange has it.
	AcknowledgeWithin = 30 * time.Second
	// RestartTakes is how long a restarting Mac is away.
	RestartTakes = 20 * time.Second
)

// departure is a sleep or restart that waits for its acknowledgements.
type departure struct {
	id       string
	to       powerState
	missing  map[*handle]bool
	deadline *wait
}

// Notices reports sleep, wake and restart. After a restart the Mac is awake:
// the process that simulates it has not ended with it.
func (h *handle) Notices(notice func(native.PowerNotice)) (stop func() error, err error) {
	return h.subscribe(&subscriber{notice: notice})
}

// hasListeners reports whether somebody listens to notices by the platform.
func (h *handle) hasListeners() bool {
	return slices.ContainsFunc(h.subscribers, func(s *subscriber) bool { return s.notice != nil })
}

// Acknowledge lets the Mac go when every platform of it that was given the
// notice has acknowledged.
func (h *handle) Acknowledge(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return h.begin("sim.power", func() error {
		if h.mac.leaving == nil || h.mac.leaving.id != id || !h.mac.leaving.missing[h] {
			return fmt.Errorf("notice %q: %w", id, native.ErrNotFound)
		}
		h.world.acknowledgedLocked(h)
		return nil
	})
}

// KeepAwake holds idle sleep off: a Mac goes to sleep from idleness where a scenario says
// so ([scenario.VerbIdle]), and nobody holds it off.
func (h *handle) KeepAwake(ctx context.Context, _ string) (release func() error, err error) {
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case h.ended:
		return nil, native.ErrClosed
	}
	h.keepsAwake++
	return sync.OnceValue(func() error {
		h.world.mu.Lock()
		defer h.world.mu.Unlock()
		h.keepsAwake--
		return nil
	}), nil
}

// isKeptAwake reports whether somebody holds a Mac's idle sleep off.
func (m *mac) isKeptAwake() bool {
	for h := range m.handles {
		if h.keepsAwake > 0 {
			return true
		}
	}
	return false
}

// applyPower does sleep, wake and restart. What the Mac is already is success.
func (w *World) applyPower(m *mac, verb scenario.Verb) {
	switch {
	case verb == scenario.VerbWake:
		w.wake(m, "")
	case (verb == scenario.VerbSleep || verb == scenario.VerbIdle) && m.power == awake && m.leaving == nil:
		w.leave(m, asleep, native.PowerWillSleep, "sleep")
	case verb == scenario.VerbRestart && m.power == asleep:
		w.depart(m, off)
	case verb == scenario.VerbRestart && m.power == awake && (m.leaving == nil || m.leaving.to != off):
		w.leave(m, off, native.PowerWillPowerOff, "restart")
	}
}

// leave gives notice and goes once it is acknowledged; at once where nobody
// listens.
func (w *World) leave(m *mac, to powerState, event native.PowerEvent, cause string) {
	if m.leaving != nil {
		w.cancelLocked(m.leaving.deadline)
	}
	m.lastNotice++
	d := &departure{id: fmt.Sprintf("%s-%d", m.spec.Name, m.lastNotice), to: to, missing: map[*handle]bool{}}
	for h := range m.handles {
		if h.hasListeners() {
			d.missing[h] = true
		}
	}
	m.leaving = nil
	if len(d.missing) == 0 {
		w.depart(m, to)
		return
	}
	m.leaving = d
	d.deadline = w.afterLocked(AcknowledgeWithin, "sim.power", func() { w.depart(m, to) })
	w.notify(m, native.PowerNotice{ID: d.id, Event: event, Cause: cause, WithinS: AcknowledgeWithin.Seconds()})
}

// acknowledgedLocked notes that a platform lets its Mac go.
func (w *World) acknowledgedLocked(h *handle) {
	if d := h.mac.leaving; d != nil && d.missing[h] {
		delete(d.missing, h)
		if len(d.missing) == 0 {
			w.depart(h.mac, d.to)
		}
	}
}

func (w *World) depart(m *mac, to powerState) {
	if m.leaving != nil {
		w.cancelLocked(m.leaving.deadline)
		m.leaving = nil
	}
	m.power = to
	if to == off {
		w.afterLocked(RestartTakes, "sim.restart", func() { w.boot(m) })
	}
}

// wake ends a sleep, or calls off one that was announced. A Mac that restarts
// comes by itself.
func (w *World) wake(m *mac, cause string) {
	calledOff := m.leaving != nil && m.leaving.to == asleep
	if calledOff {
		w.cancelLocked(m.leaving.deadline)
		m.leaving = nil
	}
	if m.power == asleep || calledOff {
		m.power = awake
		w.notify(m, native.PowerNotice{Event: native.PowerAwake, Cause: cause})
	}
}

// boot starts a Mac again: the RDMA switch takes effect, and addresses that it
// assigned itself are new ones.
func (w *World) boot(m *mac) {
	m.power = awake
	m.boots++
	w.started(m)
	if m.spec.RDMA == native.RDMAOnAfterRestart {
		m.spec.RDMA = native.RDMAOn
	}
	for _, i := range m.ifaces {
		i.assignAnew(w.scenario.Name, m)
	}
	w.notify(m, native.PowerNotice{Event: native.PowerAwake, Cause: "restart"})
}

// started notes the time of a start and makes its identifier.
func (w *World) started(m *mac) {
	m.bootedAt = w.clock.Now()
	m.bootID = scenario.MakeUUID(w.scenario.Name, m.spec.Name, "boot", strconv.Itoa(m.boots), w.began.UTC().String())
}

func (w *World) notify(m *mac, notice native.PowerNotice) {
	notice.At = native.Stamp(w.clock.Now())
	for h := range m.handles {
		for _, s := range h.subscribers {
			if s.notice != nil {
				w.notifyLocked(s, func() { s.notice(notice) })
			}
		}
	}
}
