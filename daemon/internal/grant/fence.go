package grant

import (
	"time"

	"fulmen/daemon/api"
)

// epoch is the highest epoch of a job that was heard of, and when.
type epoch struct {
	n    uint64
	seen time.Duration
}

// keepEpoch is how long an epoch is remembered at least; a call that is on its
// way for longer has been given up by both sides.
const keepEpoch = 24 * time.Hour

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
		a.dismiss(func(w *waiter) bool {
			return !w.Holder.IsMeasure() && w.Holder.Rank.Job == h.Rank.Job && w.Epoch < n
		}, api.GrantRefused, api.ReasonStaleEpoch)
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
