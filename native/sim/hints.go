package sim

import (
	"fmt"
	"reflect"
	"slices"

	"fulmen/native"
)

// Watch calls hint after each change that made facts of the Mac different: one
// hint for each area, with source "sim." and what happened ("sim.plug",
// "sim.set", "sim.address" for one that came or went by itself, "sim.service",
// "sim.bridge"), and the subject where it was one thing. A Mac that sleeps or
// restarts hears nothing; when it runs again it hears once of each area that
// changed meanwhile. stop must not be called by the callback, for whose end it
// waits.
func (h *handle) Watch(hint func(native.Hint)) (stop func() error, err error) {
	w := h.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.ended {
		return nil, native.ErrClosed
	}
	s := &hintSubscriber{hint: hint}
	h.watches = append(h.watches, s)
	return func() error {
		w.mu.Lock()
		h.watches = slices.DeleteFunc(h.watches, func(other *hintSubscriber) bool { return other == s })
		w.mu.Unlock()
		w.stop(&s.subscriber)
		return nil
	}, nil
}

type hintSubscriber struct {
	subscriber
	hint func(native.Hint)
}

// change makes a change whole or not at all, lets the world follow it, and tells
// everybody whom it concerns. f must leave the state alone when it fails.
func (w *World) change(source string, f func() error) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return native.ErrClosed
	}
	err := f()
	if err == nil {
		w.settle(false)
		w.follow()
		now := w.everything()
		for i, m := range w.macs {
			w.hint(m, source, w.known[i], now[i])
		}
		w.known = now
		w.look()
	}
	w.mu.Unlock()
	w.talk()
	return err
}

// everything is the facts of all Macs.
func (w *World) everything() []native.Snapshot {
	all := make([]native.Snapshot, len(w.macs))
	for i, m := range w.macs {
		all[i] = w.snapshot(m, native.AllAreas())
	}
	return all
}

// hint tells the areas in which a Mac's facts differ.
func (w *World) hint(m *mac, source string, before, after native.Snapshot) {
	for _, area := range native.AllAreas() {
		if changed, subject := difference(area, before, after); changed {
			m.unheard = slices.DeleteFunc(m.unheard, func(h native.Hint) bool { return h.Area == area })
			m.unheard = append(m.unheard, native.Hint{Area: area, Source: source, Subject: subject})
		}
	}
	if !m.runs() {
		return
	}
	for _, hint := range m.unheard {
		hint.At, hint.BootUS = native.Stamp(w.clock.Now()), w.clock.Boot().Microseconds()
		for h := range m.handles {
			for _, s := range h.watches {
				w.tell(&s.subscriber, func() { s.hint(hint) })
			}
		}
	}
	m.unheard = nil
}

// difference reports whether an area's facts differ, and the one thing in it
// that does, where it is one.
func difference(area native.Area, before, after native.Snapshot) (changed bool, subject string) {
	var subjects []string
	switch area {
	case native.AreaIdentity:
		changed = !reflect.DeepEqual(before.Identity, after.Identity)
	case native.AreaMemory:
		changed = !reflect.DeepEqual(before.Memory, after.Memory)
	case native.AreaSystem:
		changed = !reflect.DeepEqual(before.System, after.System)
	case native.AreaNetwork:
		changed = !reflect.DeepEqual(before.Network, after.Network)
		if changed && before.Network != nil && after.Network != nil {
			name := func(i native.Interface) string { return i.Name }
			subjects = different(before.Network.Interfaces, after.Network.Interfaces, name)
			bridge := func(b native.Bridge) string { return b.Name }
			for _, name := range different(before.Network.Bridges, after.Network.Bridges, bridge) {
				if !slices.Contains(subjects, name) {
					subjects = append(subjects, name)
				}
			}
		}
	case native.AreaThunderbolt:
		changed = !reflect.DeepEqual(before.Thunderbolt, after.Thunderbolt)
		if changed && before.Thunderbolt != nil && after.Thunderbolt != nil {
			name := func(p native.Port) string { return fmt.Sprintf("receptacle %d", p.Receptacle) }
			subjects = different(before.Thunderbolt.Ports, after.Thunderbolt.Ports, name)
		}
	case native.AreaRDMA:
		changed = !reflect.DeepEqual(before.RDMA, after.RDMA)
		if changed && before.RDMA != nil && after.RDMA != nil {
			name := func(d native.RDMADevice) string { return d.Name }
			subjects = different(before.RDMA.Devices, after.RDMA.Devices, name)
		}
	}
	if len(subjects) == 1 {
		subject = subjects[0]
	}
	return changed, subject
}

// different names the elements that are not the same in both lists.
func different[T any](before, after []T, name func(T) string) []string {
	var names []string
	for _, one := range slices.Concat(before, after) {
		n := name(one)
		same := func(other T) bool { return name(other) == n }
		was, is := slices.IndexFunc(before, same), slices.IndexFunc(after, same)
		if (was < 0 || is < 0 || !reflect.DeepEqual(before[was], after[is])) && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
