package daemon

import (
	"context"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rank"
	"fulmen/native"
)

// depart ends the ranks of this node before it sleeps or is switched off, and waits
// until they have. Their homes hear of it as well, and end the groups; but a home
// may be out of sight, and no rank sleeps in the middle of what it does.
func (d *daemon) depart(ctx context.Context, state api.SelfState, reason api.Reason) {
	why := api.ReasonNodeAsleep
	switch {
	case state == api.SelfStopping:
		why = api.ReasonShuttingDown // a daemon that ends its ranks takes its Mac away
	case state == api.SelfRestarting && reason != "":
		why = reason
	case state == api.SelfRestarting:
		why = api.ReasonRestarting
	}
	var all sync.WaitGroup
	for _, live := range d.ranks.Live() {
		all.Go(func() {
			if err := d.endRank(live, why); err != nil {
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

// endJobs ends the jobs that run here, before a daemon that was told so stops: its
// ranks, and then, so that somebody knows the end, those jobs whose home it is.
func (d *daemon) endJobs(ctx context.Context) {
	ctx, cancel := native.WithTimeout(ctx, d.platform.Clock, endWithin, "the ends of the jobs that run here")
	defer cancel()
	d.depart(ctx, api.SelfStopping, "")
	homed := ledger.Filter{Kinds: []api.Kind{api.KindJob}, Nodes: []api.NodeID{d.identity.Node}}
	records, watcher := d.ledger.Watch(ledger.WatchOptions{Name: "stop", Filter: homed, Passive: true})
	defer watcher.Close()
	live := map[api.JobID]bool{}
	for {
		for _, r := range records {
			var job api.Job
			if r.Decode(&job) != nil {
				continue
			}
			if id := api.JobID(r.Key().Name); job.Phase == api.JobRunning || job.Phase == api.JobEnding {
				live[id] = true
			} else {
				delete(live, id)
			}
		}
		if len(live) == 0 {
			return
		}
		change, err := watcher.Next(ctx)
		if err != nil {
			d.logs.part("daemon").Warn("jobs have not ended before the daemon stops", "jobs", len(live), "error", err)
			return
		}
		for _, key := range change.Del {
			delete(live, api.JobID(key.Name))
		}
		records = change.Put
	}
}

// endRank has a rank of this node end, as a home would, with the grace of a group
// that failed.
func (d *daemon) endRank(live rank.Live, why api.Reason) error {
	return d.ranks.EndHere(live.Rank, why, d.live.Current().Times.FailedGrace)
}

// endWithin bounds the taking of such an order.
const endWithin = 10 * time.Second
