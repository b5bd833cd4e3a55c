package grant

import (
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Arbiter decides who has what of this node. It may be used by several
// goroutines.
type Arbiter struct {
	cfg Config

	mu       sync.Mutex
	closed   bool
	arrivals uint64
	lent     map[Holder]*lent
	line     []*waiter // in the order of coming, ranks before measurements
	places   map[Holder]place
	epochs   map[api.JobID]epoch
	watching bool
	timer    native.Timer
	timerAt  time.Duration
}

// lent is a grant that holds.
type lent struct {
	Request
	since    api.Time
	until    time.Duration // of the boot clock
	occupied bool          // a process lives in it
	returned bool          // given back while occupied
}

// waiter is somebody in line.
type waiter struct {
	Request
	arrival uint64
	since   api.Time
	until   time.Duration
	why     api.Reason
	on      string
	shown   bool
	answer  chan api.Grant // gets one value
}

// place is a place in line kept for who asks again at once.
type place struct {
	arrival uint64
	until   time.Duration
}

// epoch is the highest epoch of a job that was heard of, and when.
type epoch struct {
	n    uint64
	seen time.Duration
}

const (
	// keepPlace is how long a place in line is kept after its deadline.
	keepPlace = 5 * time.Second
	// keepEpoch is how long an epoch is remembered at least; a call that is on its
	// way for longer has been given up by both sides.
	keepEpoch = 24 * time.Hour
)

// New makes an arbiter that has lent nothing.
func New(cfg Config) *Arbiter {
	if cfg.Lease <= 0 {
		cfg.Lease = api.DefaultLease
	}
	return &Arbiter{cfg: cfg, lent: map[Holder]*lent{}, places: map[Holder]place{}, epochs: map[api.JobID]epoch{}}
}

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
	if r.Lease <= 0 {
		r.Lease = a.cfg.Lease
	}
	r.Receptacles = slices.Clone(r.Receptacles)
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
	} else if has != nil && has.occupied {
		w.answer <- w.grant(api.GrantRefused, api.ReasonGrantRefused, r.Holder.String())
		return w, nil
	} else if has != nil {
		a.drop(has)
	}
	for _, other := range slices.Clone(a.line) {
		if other.Holder == r.Holder { // asked twice: the later question counts
			a.leave(other)
			other.answer <- other.grant(api.GrantWaiting, other.why, other.on)
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
	return l.GPU == r.GPU && l.MemoryBytes == r.MemoryBytes && l.Principal == r.Principal && slices.Equal(l.Receptacles, r.Receptacles)
}

// compare puts ranks before measurements, and who came first before the others.
func (w *waiter) compare(o *waiter) int {
	switch {
	case w.Holder.IsMeasure() != o.Holder.IsMeasure():
		if o.Holder.IsMeasure() {
			return -1
		}
		return 1
	case w.arrival < o.arrival:
		return -1
	}
	return 1
}

// Release gives a grant back, or leaves the line. What a process occupies is
// given back when it has ended. Releasing what is not lent does nothing; a lower
// epoch than known is refused.
func (a *Arbiter) Release(h Holder, epoch uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.fence(h, epoch); err != nil {
		return err
	}
	for _, w := range slices.Clone(a.line) {
		if w.Holder == h {
			a.leave(w)
			w.answer <- w.grant(api.GrantReleased, api.ReasonJobEnded, "")
		}
	}
	delete(a.places, h)
	if l := a.lent[h]; l != nil {
		if l.occupied {
			l.returned = true
		} else {
			a.drop(l)
		}
	}
	a.settle()
	return nil
}

// Renew renews the leases of an attempt's grants and gives their number. A lower
// epoch than known is refused. A lease of 0 is as long as the last.
func (a *Arbiter) Renew(job api.JobID, attempt int, epoch uint64, lease time.Duration) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.fence(ForRank(api.RankRef{Job: job}), epoch); err != nil {
		return 0, err
	}
	a.expire(a.cfg.Clock.Boot())
	n := 0
	for h, l := range a.lent {
		if !h.IsMeasure() && h.Rank.Job == job && h.Rank.Attempt == attempt {
			a.renew(l, epoch, lease)
			n++
		}
	}
	a.settle()
	return n, nil
}

// RenewMeasure renews a measurement's grant and reports whether it holds.
func (a *Arbiter) RenewMeasure(m api.MeasureID, lease time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expire(a.cfg.Clock.Boot())
	l := a.lent[ForMeasure(m)]
	if l != nil {
		a.renew(l, 0, lease)
	}
	a.settle()
	return l != nil
}

func (a *Arbiter) renew(l *lent, epoch uint64, lease time.Duration) {
	if lease > 0 && lease != l.Lease || epoch != l.Epoch {
		if lease > 0 {
			l.Lease = lease
		}
		l.Epoch = epoch
		a.show(l)
	}
	l.until = a.cfg.Clock.Boot() + l.Lease
}

// Close answers everybody in line and lends nothing any more. What is lent stays
// in its documents: the ranks run on.
func (a *Arbiter) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, w := range slices.Clone(a.line) {
		a.leave(w)
		w.answer <- w.grant(api.GrantWaiting, api.ReasonStopping, "")
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	a.watch(false)
}

// fence refuses a lower epoch of a job than the highest known. A higher one is
// remembered, and who waits for the former home is sent away.
func (a *Arbiter) fence(h Holder, n uint64) error {
	if h.IsMeasure() {
		return nil
	}
	now := a.cfg.Clock.Boot()
	known := a.epochs[h.Rank.Job]
	if n < known.n {
		return api.Errorf(api.ReasonStaleEpoch, h.Rank.Job.String(), "The job has a newer home: epoch %d, not %d.", known.n, n)
	}
	if n > known.n {
		for _, w := range slices.Clone(a.line) {
			if !w.Holder.IsMeasure() && w.Holder.Rank.Job == h.Rank.Job && w.Epoch < n {
				a.leave(w)
				w.answer <- w.grant(api.GrantRefused, api.ReasonStaleEpoch, "")
			}
		}
		if len(a.epochs) > 1000 {
			for job, e := range a.epochs {
				if now-e.seen > keepEpoch {
					delete(a.epochs, job)
				}
			}
		}
	}
	a.epochs[h.Rank.Job] = epoch{n, now}
	return nil
}

// Epoch is the highest epoch of a job that was heard of; 0 for none.
func (a *Arbiter) Epoch(job api.JobID) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.epochs[job].n
}

func (a *Arbiter) wall() api.Time { return api.TimeOf(a.cfg.Clock.Now()) }
