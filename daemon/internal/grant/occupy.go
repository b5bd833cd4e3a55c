package grant

import (
	"cmp"

	"fulmen/daemon/api"
)

// Occupy says that one more process is about to live in a rank's grant: from now on it
// does not end with its lease, but when each has ended ([Arbiter.Vacate]). It reports whether the
// grant holds under that epoch; without it nothing may be started.
func (a *Arbiter) Occupy(rank api.RankRef, epoch uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fence(ForRank(rank), epoch) != nil {
		return false
	}
	a.expire(a.cfg.Clock.Boot())
	l := a.lent[ForRank(rank)]
	ok := l != nil && !l.returned
	if ok {
		l.occupied++
	}
	a.settle()
	return ok
}

// Vacate says that one of the processes has ended: after the last, what its home had given
// back, or let run out, is free.
func (a *Arbiter) Vacate(rank api.RankRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.lent[ForRank(rank)]; l != nil && l.occupied > 0 {
		l.occupied--
		if l.occupied == 0 && (l.returned || l.until <= a.cfg.Clock.Boot()) {
			a.drop(l)
		}
	}
	a.settle()
}

// Restore takes up the grant of a rank that ran on while the daemon did not.
// It is occupied, once a call, and not weighed against anything: the process is there. All
// of them are restored before anybody asks.
func (a *Arbiter) Restore(r Request) error {
	if err := r.check(); err != nil {
		return err
	}
	r.Lease = cmp.Or(r.Lease, a.cfg.Lease)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.fence(r.Holder, r.Epoch); err != nil {
		return err
	}
	l := a.lent[r.Holder]
	if l == nil {
		l = a.lend(r, "")
	}
	l.occupied++
	a.settle()
	return nil
}

// Recheck weighs the line again, after what the readers tell has changed: the
// use of the GPU, the working set, what the owner lends. Calling it for nothing
// is harmless. It is also to be called when the machine has woken.
func (a *Arbiter) Recheck() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settle()
}

// Holders lists what is lent and who waits, by name.
func (a *Arbiter) Holders() map[string]api.Grant {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string]api.Grant{}
	for h, l := range a.lent {
		out[h.String()] = l.grant()
	}
	for _, w := range a.line {
		out[w.Holder.String()] = w.grant(api.GrantWaiting, w.why, w.on)
	}
	return out
}
