package grant

import (
	"cmp"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Arbiter decides who has what of this node. It may be used by several
// goroutines.
type Arbiter struct {
	cfg Config

	mu        sync.Mutex
	closed    bool
	arrivals  uint64
	lent      map[Holder]*lent
	line      []*waiter // in the order of coming, ranks before measurements
	places    map[Holder]place
	waitUntil map[api.JobID]time.Duration // until when a job waits for other programs
	epochs    map[api.JobID]epoch
	watching  bool
	timer     native.Timer
	timerAt   time.Duration
}

// lent is a grant that holds.
type lent struct {
	Request
	since    api.Time
	until    time.Duration // of the boot clock
	beside   api.Reason    // what else uses the GPU; empty = nothing
	occupied int           // processes that live in it
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

// keepPlace is how long a place in line is kept after its deadline.
const keepPlace = 5 * time.Second

// forgetWait is how long after its end it is known that a job has waited for
// other programs: its other ranks and its next attempts do not wait again.
const forgetWait = time.Hour

// New makes an arbiter that has lent nothing.
func New(cfg Config) *Arbiter {
	cfg.Lease = cmp.Or(cfg.Lease, api.DefaultLease)
	return &Arbiter{cfg: cfg, lent: map[Holder]*lent{}, places: map[Holder]place{}, waitUntil: map[api.JobID]time.Duration{}, epochs: map[api.JobID]epoch{}}
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
	a.dismiss(func(w *waiter) bool { return w.Holder == h }, api.GrantReleased, api.ReasonJobEnded)
	delete(a.places, h)
	if l := a.lent[h]; l != nil {
		if l.occupied > 0 {
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
	a.dismiss(func(*waiter) bool { return true }, api.GrantWaiting, api.ReasonStopping)
	if a.timer != nil {
		a.timer.Stop()
	}
	a.watch(false)
}

func (a *Arbiter) wall() api.Time { return api.TimeOf(a.cfg.Clock.Now()) }

// grant is the document of what is lent.
func (l *lent) grant() api.Grant {
	return api.Grant{State: api.GrantHeld, Since: l.since, Principal: l.Principal, Epoch: l.Epoch, GPU: l.GPU,
		MemoryBytes: l.MemoryBytes, PortNumbers: l.PortNumbers, Reason: l.beside, LeaseS: l.Lease.Seconds()}
}

// grant is the document of who waits, and every answer but the one that lends.
func (w *waiter) grant(state api.GrantState, why api.Reason, on string) api.Grant {
	return api.Grant{State: state, Since: w.since, Principal: w.Principal, Epoch: w.Epoch, GPU: w.GPU,
		MemoryBytes: w.MemoryBytes, PortNumbers: w.PortNumbers, Reason: why, WaitingFor: on}
}

// A document that could not be published is no reason to lend or not: the ledger
// reports its own failures.

func (a *Arbiter) show(l *lent) { a.put(l.Holder, l.grant()) }

func (a *Arbiter) put(h Holder, g api.Grant) {
	_ = a.cfg.Documents.Put(api.KindGrant, h.String(), g, nil)
}

func (a *Arbiter) hide(h Holder) { _ = a.cfg.Documents.Delete(api.KindGrant, h.String()) }
