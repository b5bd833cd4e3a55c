package grant

import (
	"cmp"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// settle brings all up to date: leases and deadlines that have passed, then the
// line in its order, then the timer.
func (a *Arbiter) settle() {
	if a.closed {
		return
	}
	now := a.cfg.Clock.Boot()
	a.expire(now)
	idle := false // somebody waits for other programs
	taken := &wanted{}
	for _, w := range slices.Clone(a.line) {
		why, on, never := a.obstacle(w, taken)
		beside := api.Reason("")
		if why == api.ReasonGPUUsedByOtherProgram && a.hasWaited(w.Holder, now) {
			why, beside = "", why
		}
		switch {
		case never:
			a.send(w, w.grant(api.GrantRefused, why, on))
			continue
		case why == "":
			a.leave(w) // its document gives way to that of the grant
			w.answer <- a.lend(w.Request, beside).grant()
			continue
		case w.until <= now:
			// Whoever asked for an answer at once has no place to keep.
			if w.Wait > 0 {
				a.places[w.Holder] = place{w.arrival, now + keepPlace}
			}
			a.send(w, w.grant(api.GrantWaiting, why, on))
			continue
		}
		idle = idle || why == api.ReasonGPUUsedByOtherProgram
		if !a.refusedByOwner(why) {
			taken.add(w.Request)
		}
		if w.why != why || w.on != on || !w.shown {
			w.why, w.on, w.shown = why, on, true
			a.put(w.Holder, w.grant(api.GrantWaiting, why, on))
		}
	}
	a.watch(idle)
	a.arm(now)
}

// hasWaited reports whether a holder has waited for other programs as long as it
// has to; the first question begins that time.
func (a *Arbiter) hasWaited(h Holder, now time.Duration) bool {
	if h.IsMeasure() {
		return false // it would measure them as well
	}
	until, begun := a.waitUntil[h.Rank.Job]
	if !begun {
		until = now + a.cfg.GPUWait()
		a.waitUntil[h.Rank.Job] = until
	}
	return until <= now
}

// refusedByOwner reports whether a reason is the owner's policy of the moment: who
// waits for that takes nothing from those behind.
func (a *Arbiter) refusedByOwner(why api.Reason) bool {
	return why == api.ReasonOnBattery || why == api.ReasonNotIdle || why == api.ReasonRDMAChangeRunning
}

// expire ends what has passed its time. A waiter that can be served at this very
// moment is served by settle, which looks at deadlines afterwards.
func (a *Arbiter) expire(now time.Duration) {
	for _, l := range a.lent {
		if l.until <= now && l.occupied == 0 {
			a.drop(l)
		}
	}
	for h, p := range a.places {
		if p.until <= now {
			delete(a.places, h)
		}
	}
	for job, until := range a.waitUntil {
		if until+forgetWait <= now {
			delete(a.waitUntil, job)
		}
	}
}

// wanted is what those earlier in line want.
type wanted struct {
	first       *Request
	exclusive   bool
	shared      bool
	memory      int64
	portNumbers []api.PortNumber
}

func (t *wanted) add(r Request) {
	if t.first == nil {
		t.first = &r
	}
	t.exclusive = t.exclusive || r.GPU == api.GPUExclusive
	t.shared = t.shared || r.GPU == api.GPUShared
	t.memory += r.MemoryBytes
	t.portNumbers = append(t.portNumbers, r.PortNumbers...)
}

// obstacle is the first thing that is in a waiter's way, and whether it will
// stay there for ever.
func (a *Arbiter) obstacle(w *waiter, taken *wanted) (why api.Reason, on string, never bool) {
	all := a.sorted()
	if w.Holder.IsMeasure() {
		if len(all) > 0 {
			why = api.ReasonJobHasNode
			if all[0].Holder.IsMeasure() { // then there is nothing else
				why = api.ReasonMeasurementRunning
			}
			return why, all[0].Holder.String(), false
		}
		if taken.first != nil {
			return api.ReasonJobHasNode, taken.first.Holder.String(), false
		}
	} else {
		if _, why := a.cfg.Policy.Allows(w.Principal); why != "" {
			return why, "", !a.refusedByOwner(why)
		}
		for _, l := range all {
			if l.Holder.IsMeasure() {
				return api.ReasonMeasurementRunning, l.Holder.String(), false
			}
		}
	}
	capacity := a.cfg.Capacity()
	for _, bound := range []struct {
		of     *int64
		counts bool
		others bool // only what is lent to people of other nodes counts
	}{
		{capacity.WorkingSetBytes, true, false},
		{capacity.OthersMaxBytes, a.other(w.Request), true},
	} {
		if w.MemoryBytes == 0 || !bound.counts {
			continue
		}
		if bound.of == nil {
			if bound.others {
				continue
			}
			return api.ReasonNotEnoughMemory, "the size of the GPU's working set", false
		}
		if w.MemoryBytes > *bound.of {
			return api.ReasonNotEnoughMemory, "", true
		}
		left := *bound.of - w.MemoryBytes
		if !bound.others {
			left -= taken.memory
		}
		holder := ""
		for _, l := range all {
			if !bound.others || a.other(l.Request) {
				left -= l.MemoryBytes
				holder = cmp.Or(holder, l.name())
			}
		}
		if left < 0 {
			return api.ReasonNotEnoughMemory, cmp.Or(holder, taken.name()), false
		}
	}
	for _, r := range w.PortNumbers {
		for _, l := range all {
			if slices.Contains(l.PortNumbers, r) {
				return api.ReasonRDMADeviceBusy, l.Holder.String(), false
			}
		}
		if slices.Contains(taken.portNumbers, r) {
			return api.ReasonRDMADeviceBusy, taken.name(), false
		}
	}
	return a.gpuObstacle(w, all, taken)
}

func (a *Arbiter) gpuObstacle(w *waiter, all []*lent, taken *wanted) (why api.Reason, on string, never bool) {
	if w.GPU == api.GPUNone {
		return "", "", false
	}
	used := false
	for _, l := range all {
		if l.GPU == api.GPUExclusive || l.GPU == api.GPUShared && w.GPU == api.GPUExclusive {
			return api.ReasonGPUBusy, l.Holder.String(), false
		}
		used = used || l.GPU == api.GPUShared
	}
	if taken.exclusive || taken.shared && w.GPU == api.GPUExclusive {
		return api.ReasonGPUBusy, taken.name(), false
	}
	if ratio, known := a.cfg.GPUUse(); known && !used && ratio > api.GPUBusyRatio {
		return api.ReasonGPUUsedByOtherProgram, "other programs", false
	}
	return "", "", false
}

// name is the holder's, as the one in the way.
func (t *wanted) name() string {
	if t.first == nil {
		return ""
	}
	return t.first.Holder.String()
}

func (l *lent) name() string {
	if l.MemoryBytes == 0 {
		return ""
	}
	return l.Holder.String()
}

// other reports whether a request is of somebody of another node.
func (a *Arbiter) other(r Request) bool {
	return !r.Holder.IsMeasure() && r.Principal.Node != a.cfg.Self
}

// sorted lists what is lent, by name, so that reasons do not wander.
func (a *Arbiter) sorted() []*lent {
	all := make([]*lent, 0, len(a.lent))
	for _, l := range a.lent {
		all = append(all, l)
	}
	slices.SortFunc(all, func(x, y *lent) int {
		return cmp.Or(cmp.Compare(x.Holder.Measure, y.Holder.Measure), x.Holder.Rank.Compare(y.Holder.Rank))
	})
	return all
}

func (a *Arbiter) lend(r Request, beside api.Reason) *lent {
	l := &lent{Request: r, beside: beside, since: a.wall(), until: a.cfg.Clock.Boot() + r.Lease}
	a.lent[r.Holder] = l
	a.show(l)
	return l
}

func (a *Arbiter) drop(l *lent) {
	delete(a.lent, l.Holder)
	a.hide(l.Holder)
}

// send answers a waiter, who leaves the line.
func (a *Arbiter) send(w *waiter, answer api.Grant) {
	a.leave(w)
	w.answer <- answer
}

// dismiss sends those in line away of whom gone is true.
func (a *Arbiter) dismiss(gone func(*waiter) bool, state api.GrantState, why api.Reason) {
	for _, w := range slices.Clone(a.line) {
		if gone(w) {
			a.send(w, w.grant(state, why, ""))
		}
	}
}

func (a *Arbiter) leave(w *waiter) {
	a.line = slices.DeleteFunc(a.line, func(o *waiter) bool { return o == w })
	if w.shown {
		w.shown = false
		a.hide(w.Holder)
	}
}

// arm sets the one timer to what is due next.
func (a *Arbiter) arm(now time.Duration) {
	next := time.Duration(-1)
	soon := func(t time.Duration) {
		if next < 0 || t < next {
			next = t
		}
	}
	for _, l := range a.lent {
		if l.occupied == 0 {
			soon(l.until)
		}
	}
	for _, w := range a.line {
		soon(w.until)
		if until := a.waitUntil[w.Holder.Rank.Job]; until > now {
			soon(until)
		}
	}
	for _, p := range a.places {
		soon(p.until)
	}
	if a.timer != nil {
		if next == a.timerAt {
			return
		}
		a.timer.Stop()
		a.timer = nil
	}
	if next >= 0 {
		a.timerAt = next
		a.timer = a.cfg.Clock.AfterFunc(next-now, a.tick)
	}
}

func (a *Arbiter) tick() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.timer = nil
	a.settle()
}

func (a *Arbiter) watch(on bool) {
	if a.cfg.WatchGPU != nil && on != a.watching {
		a.watching = on
		a.cfg.WatchGPU(on)
	}
}
