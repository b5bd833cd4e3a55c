package rank

import (
	"context"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// serve has the calls of a door of a job's home answered once the ranks of before are
// known.
func serve[P gate.Claimer](r *Ranks, d gate.HomeDoor, do func(ctx context.Context, home gate.Home, params P) (any, error)) {
	r.cfg.Peers.HandleCall(gate.HandleHome(d, func(ctx context.Context, home gate.Home, params P) (any, error) {
		select {
		case <-r.ready:
		case <-r.ctx.Done():
			return nil, api.NewError(api.ReasonStopping, string(r.cfg.Node))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return do(ctx, home, params)
	}))
}

// checkCall refuses numbers that cannot be.
func checkCall(job api.JobID, attempt int, epoch uint64) error {
	ref := api.RankRef{Job: job, Attempt: attempt}
	switch {
	case !ref.Valid():
		return api.NewError(api.ReasonMalformedID, ref.String())
	case epoch == 0 || epoch > maxEpoch:
		return api.Errorf(api.ReasonBadValue, "epoch", "The epoch %d is not from 1 to %d.", epoch, uint64(maxEpoch))
	}
	return nil
}

// maxEpoch is the highest epoch that a shim can hold.
const maxEpoch = 1<<53 - 1

// checkLease refuses a lease that no shim takes.
func checkLease(seconds float64) error {
	const most = 24 * 60 * 60
	if !(seconds > 0 && seconds <= most) {
		return api.Errorf(api.ReasonBadValue, "lease_s", "A lease of %g s is not from above 0 to %d s.", seconds, most)
	}
	return nil
}
