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
	return h.subscribe(&subscriber{hint: hint})
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
		w.lookLocked()
	}
	w.mu.Unlock()
	w.talk()
	return err
}

// everything is the facts of all Macs.
func (w *World) everything() []native.Snapshot {
	all := make([]native.Snapshot, len(w.macs))
	for i, m := range w.macs {
		all[i] = w.snapshotLocked(m, native.AllAreas())
	}
	return all
}

// hint tells the areas in which a Mac's facts differ.
func (w *World) hint(m *mac, source string, before, after native.Snapshot) {
	for _, area := range native.AllAreas() {
		if changed, subject := difference(area, before, after); changed {
			m.unreceived = slices.DeleteFunc(m.unreceived, func(h native.Hint) bool { return h.Area == area })
			m.unreceived = append(m.unreceived, native.Hint{Area: area, Source: source, Subject: subject})
		}
	}
	if !m.runs() {
		return
	}
	for _, hint := range m.unreceived {
		hint.At, hint.BootUS = native.Stamp(w.clock.Now()), w.clock.Boot().Microseconds()
		for h := range m.handles {
			for _, s := range h.subscribers {
				if s.hint != nil {
					w.notifyLocked(s, func() { s.hint(hint) })
				}
			}
		}
	}
	m.unreceived = nil
}

// difference reports whether an area's facts differ, and the one thing in it
// that does, where it is one.
func difference(area native.Area, before, after native.Snapshot) (changed bool, subject string) {
	if reflect.DeepEqual(before.Part(area).Interface(), after.Part(area).Interface()) {
		return false, ""
	}
	var subjects []string
	switch {
	case !before.Has(area) || !after.Has(area):
	case area == native.AreaNetwork:
		subjects = different(before.Network.Interfaces, after.Network.Interfaces, func(i native.Interface) string { return i.Name })
		bridges := different(before.Network.Bridges, after.Network.Bridges, func(b native.Bridge) string { return b.Name })
		subjects = slices.Compact(slices.Sorted(slices.Values(slices.Concat(subjects, bridges)))) // a bridge is an interface too
	case area == native.AreaThunderbolt:
		subjects = different(before.Thunderbolt.Ports, after.Thunderbolt.Ports, func(p native.Port) string { return fmt.Sprintf("receptacle %d", p.PortNumber) })
	case area == native.AreaRDMA:
		subjects = different(before.RDMA.Devices, after.RDMA.Devices, func(d native.RDMADevice) string { return d.Name })
	}
	if len(subjects) == 1 {
		return true, subjects[0]
	}
	return true, ""
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
