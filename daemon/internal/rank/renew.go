package rank

import (
	"cmp"
	"context"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// renew prolongs the leases of an attempt's ranks and grants on this node.
func (r *Ranks) renew(_ context.Context, home gate.Home, p api.PeerRenewParams) (any, error) {
	if err := cmp.Or(checkCall(p.Job, p.Attempt, p.Epoch), checkLease(p.LeaseS)); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.admitLocked(p.Job, home); err != nil {
		return nil, err
	}
	lease := api.Seconds(p.LeaseS)
	if _, err := r.cfg.Grants.Renew(p.Job, p.Attempt, p.Epoch, lease); err != nil {
		return nil, err
	}
	now := r.cfg.Clock.Boot()
	result := api.PeerRenewResult{Ranks: []int{}}
	for _, h := range r.ofJobLocked(p.Job) {
		if h.Doc.Attempt != p.Attempt {
			continue
		}
		result.PrintedBytes += h.bytesPrintedLocked()
		if h.Doc.Phase.Ended() {
			continue
		}
		result.Ranks = append(result.Ranks, h.Doc.Rank)
		// What has slept through its lease is not woken by a late renewal.
		if h.lease == 0 || now < h.lease {
			h.setLeaseLocked(now + lease)
		}
		r.countLocked(h)
		h.progress.wantsStack = slices.Contains(p.Stacks, h.Doc.Rank)
		if one, isKnown := h.progress.meter.Progress(h.Doc.Rank, now); isKnown {
			result.Progress = append(result.Progress, one)
		}
	}
	return result, nil
}

// bytesPrintedLocked is what the rank has printed, as its shim told last: that
// counts what a full disk dropped, too. Every renewal has the shim tell it anew.
func (h *held) bytesPrintedLocked() int64 {
	if o := h.Doc.Output; o != nil {
		return o.OutBytes + o.ErrBytes
	}
	return h.printed
}

// setLeaseLocked has a rank live until then, and whoever watches its lease know.
func (h *held) setLeaseLocked(until time.Duration) {
	h.lease = until
	h.wake.Wake()
	h.moved.Wake()
}
