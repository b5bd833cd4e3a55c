package daemon

import (
	"context"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank"
	"fulmen/native"
)

// depart ends the ranks of this node before it sleeps or is switched off, and waits
// until they have. Their homes hear of it as well, and end the groups; but a home
// may be out of sight, and no rank sleeps in the middle of what it does.
func (d *daemon) depart(ctx context.Context, state api.SelfState, reason api.Reason) {
	why := api.ReasonNodeAsleep
	if state == api.SelfRestarting {
		why = api.ReasonRestarting
		if reason != "" {
			why = reason
		}
	}
	var all sync.WaitGroup
	for _, live := range d.ranks.Live() {
		all.Go(func() {
			if err := d.endRank(ctx, live, why); err != nil {
				d.logs.part("rank").Warn("a rank could not be ended before this node goes", "rank", live.Rank, "error", err)
				return
			}
			select {
			case <-d.ranks.Ended(live.Rank):
			case <-ctx.Done():
				d.logs.part("rank").Warn("a rank has not ended before this node goes", "rank", live.Rank)
			}
		})
	}
	all.Wait()
}

// endRank has a rank of this node end, as a home would, with the grace of a group
// that failed.
func (d *daemon) endRank(ctx context.Context, live rank.Live, why api.Reason) error {
	params := api.PeerEndParams{Job: live.Rank.Job, Attempt: live.Rank.Attempt, Ranks: []int{live.Rank.Rank}, Epoch: live.Epoch,
		Reason: why, GraceS: d.live.Current().Times.FailedGrace.Seconds()}
	ctx, cancel := native.WithTimeout(ctx, d.platform.Clock, endWithin, "this node's rank "+live.Rank.String())
	defer cancel()
	return d.peers.Call(ctx, d.identity.Node, "peer.end", params, nil)
}

// endWithin bounds the taking of such an order.
const endWithin = 10 * time.Second
