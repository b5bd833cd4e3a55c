package lifecycle

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rank"
	"fulmen/native"
)

// Ranks are the ranks of this node; [rank.Ranks] implements it.
type Ranks interface {
	// Live are those that have not ended.
	Live() []rank.Live
	// EndHere has one end, with a grace.
	EndHere(ref api.RankRef, why api.Reason, grace time.Duration) error
	// Ended is closed when one has ended.
	Ended(ref api.RankRef) <-chan struct{}
}

// Departure ends what runs here before this node goes.
type Departure struct {
	Ranks  Ranks
	Ledger *ledger.Ledger
	Clock  native.Clock
	// Grace is that of a group that failed.
	Grace func() time.Duration
	Log   *slog.Logger
}

// EndRanks ends the ranks of this node before it sleeps or is switched off, and waits
// until they have, and until those of their jobs whose home it is have as well: nobody
// else would tell of that. Other homes hear of it too, and end the groups; but a home
// may be out of sight, and no rank sleeps in the middle of what it does.
func (d Departure) EndRanks(ctx context.Context, state api.SelfState, reason api.Reason) {
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
	homed := map[api.JobID]bool{}
	for _, live := range d.Ranks.Live() {
		if live.Home == d.Ledger.Node() {
			homed[live.Rank.Job] = true
		}
		all.Go(func() {
			if err := d.EndRank(live, why); err != nil {
				d.Log.Warn("a rank could not be ended before this node goes", "rank", live.Rank, "error", err)
				return
			}
			select {
			case <-d.Ranks.Ended(live.Rank):
			case <-ctx.Done():
				d.Log.Warn("a rank has not ended before this node goes", "rank", live.Rank)
			}
		})
	}
	all.Wait()
	d.awaitJobs(ctx, func(id api.JobID) bool { return homed[id] })
}

// EndJobs ends the jobs that run here, before a daemon that was told so stops: its
// ranks, and then, so that somebody knows the end, those jobs whose home it is.
func (d Departure) EndJobs(ctx context.Context) {
	ctx, cancel := native.WithTimeout(ctx, d.Clock, endWithin, "the ends of the jobs that run here")
	defer cancel()
	d.EndRanks(ctx, api.SelfStopping, "")
	d.awaitJobs(ctx, func(api.JobID) bool { return true })
}

// awaitJobs waits until none of these jobs runs or ends any more whose home this node is.
func (d Departure) awaitJobs(ctx context.Context, is func(api.JobID) bool) {
	homed := ledger.Filter{Kinds: []api.Kind{api.KindJob}, Nodes: []api.NodeID{d.Ledger.Node()}}
	records, watcher := d.Ledger.Watch(ledger.WatchOptions{Name: "stop", Filter: homed, Passive: true})
	defer watcher.Close()
	live := map[api.JobID]bool{}
	for {
		for _, r := range records {
			var job api.Job
			if r.Decode(&job) != nil {
				continue
			}
			if id := api.JobID(r.Key().Name); is(id) && (job.Phase == api.JobRunning || job.Phase == api.JobEnding) {
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
			d.Log.Warn("jobs have not ended before this node goes", "jobs", len(live), "error", err)
			return
		}
		for _, key := range change.Del {
			delete(live, api.JobID(key.Name))
		}
		records = change.Put
	}
}

// EndRank has a rank of this node end, as a home would, with the grace of a group
// that failed.
func (d Departure) EndRank(live rank.Live, why api.Reason) error {
	return d.Ranks.EndHere(live.Rank, why, d.Grace())
}

// endWithin bounds the end of the jobs that run here, before a daemon stops that was told to end them.
const endWithin = 10 * time.Second

// EndFormer ends the ranks that nodes have here that are no members any more, and those
// of their people's jobs. submitter is whose a job is.
func (d Departure) EndFormer(removed []api.NodeID, submitter func(api.JobID) (api.Principal, bool)) {
	for _, live := range d.Ranks.Live() {
		who, found := submitter(live.Rank.Job)
		if !slices.Contains(removed, live.Home) && !(found && slices.Contains(removed, who.Node)) {
			continue
		}
		go func() {
			if err := d.EndRank(live, api.ReasonRemoved); err != nil {
				d.Log.Warn("a rank of a removed node could not be ended", "rank", live.Rank, "error", err)
			}
		}()
	}
}
