package grant

import (
	"cmp"
	"context"
	"slices"

	"fulmen/daemon/api"
)

// Ask asks for a grant and waits in line for it, at most for the request's Wait.
// The answer's state is held; waiting where the deadline passed, with what is in
// the way; or refused where waiting cannot help. Who holds the grant already
// gets it again, with a new lease. The error is for a request that makes no
// sense, an epoch that is no longer the job's (stale_epoch), a context that
// ended, and an arbiter that is closed.
func (a *Arbiter) Ask(ctx context.Context, r Request) (api.Grant, error) {
	if err := r.check(); err != nil {
		return api.Grant{}, err
	}
	r.Lease = cmp.Or(r.Lease, a.cfg.Lease)
	r.PortNumbers = slices.Clone(r.PortNumbers)
	w, err := a.enqueue(r)
	if err != nil {
		return api.Grant{}, err
	}
	select {
	case g := <-w.answer:
		return a.answered(g)
	case <-ctx.Done():
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case g := <-w.answer: // it came just then
		return a.answered(g)
	default:
	}
	a.leave(w)
	a.settle()
	return api.Grant{}, context.Cause(ctx)
}

func (a *Arbiter) answered(g api.Grant) (api.Grant, error) {
	if g.Reason == api.ReasonStaleEpoch || g.Reason == api.ReasonStopping || g.Reason == api.ReasonJobEnded {
		return g, api.NewError(g.Reason, "")
	}
	return g, nil
}

func (a *Arbiter) enqueue(r Request) (*waiter, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, api.NewError(api.ReasonStopping, "")
	}
	if err := a.fence(r.Holder, r.Epoch); err != nil {
		return nil, err
	}
	now := a.cfg.Clock.Boot()
	a.expire(now)
	w := &waiter{Request: r, since: a.wall(), until: now + min(r.Wait, maxWait), answer: make(chan api.Grant, 1)}
	if has := a.lent[r.Holder]; has != nil && has.same(r) {
		has.Epoch, has.Lease, has.until, has.returned = r.Epoch, r.Lease, now+r.Lease, false
		a.show(has)
		w.answer <- has.grant()
		a.settle()
		return w, nil
	} else if has != nil && has.occupied > 0 {
		w.answer <- w.grant(api.GrantRefused, api.ReasonGrantRefused, r.Holder.String())
		return w, nil
	} else if has != nil {
		a.drop(has)
	}
	for _, other := range slices.Clone(a.line) {
		if other.Holder == r.Holder { // asked twice: the later question counts
			a.send(other, other.grant(api.GrantWaiting, other.why, other.on))
			w.arrival = other.arrival
		}
	}
	if kept, ok := a.places[r.Holder]; ok {
		w.arrival = kept.arrival
		delete(a.places, r.Holder)
	}
	if w.arrival == 0 {
		a.arrivals++
		w.arrival = a.arrivals
	}
	a.line = append(a.line, w)
	slices.SortFunc(a.line, (*waiter).compare)
	a.settle()
	return w, nil
}

// same reports whether a grant is what a request wants.
func (l *lent) same(r Request) bool {
	return l.GPU == r.GPU && l.MemoryBytes == r.MemoryBytes && l.Principal == r.Principal && slices.Equal(l.PortNumbers, r.PortNumbers)
}

// compare puts ranks before measurements, and who came first before the others.
func (w *waiter) compare(o *waiter) int {
	behind := func(w *waiter) int {
		if w.Holder.IsMeasure() {
			return 1
		}
		return 0
	}
	return cmp.Or(behind(w)-behind(o), cmp.Compare(w.arrival, o.arrival))
}
