package job

import (
	"context"
	"errors"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// watchJobs begins to read what is said of jobs and ranks, deletions too.
func (j *Jobs) watchJobs() ([]*ledger.Record, *ledger.Watcher) {
	return j.cfg.Ledger.Watch(ledger.WatchOptions{
		Name: "jobs", Filter: ledger.Filter{Kinds: []api.Kind{api.KindJob, api.KindRank}, Deleted: true}, Passive: true,
	})
}

// load takes in the stored documents, and goes on with every job that has not ended.
func (j *Jobs) load(records []*ledger.Record) {
	for _, r := range records {
		j.take(r)
	}
	j.mu.Lock()
	for id, m := range j.memory {
		if m.Gone && j.jobs[id] == nil {
			j.jobs[id] = &known{body: &j.nothing, gone: true}
		}
	}
	for id, k := range j.jobs {
		j.revive(id, k)
	}
	j.loaded = true // what comes of this node's own from here on, and has no actor, was forgotten
	j.mu.Unlock()
	j.spawn(func() { // what was deleted while this node was away, or just before it ended
		for _, r := range records {
			id := api.JobID(r.Key().Name)
			if k, found := j.Known(id); r.Deleted() && r.Key().Kind == api.KindJob && found && k.Gone && j.ctx.Err() == nil {
				j.forgetLater(id, "")
			}
		}
	})
	j.spawn(j.signEnded)
	j.spawn(j.purge)
	j.spawn(j.forgetOld)
}

func (j *Jobs) take(r *ledger.Record) {
	if r.Key().Kind == api.KindRank {
		j.absorbRank(r)
	} else {
		j.absorb(r)
	}
}

// follow reads the ledger until the end.
func (j *Jobs) follow(w *ledger.Watcher) {
	for {
		change, err := w.Next(j.ctx)
		switch {
		case j.ctx.Err() != nil:
			w.Close()
			return
		case err != nil: // it lagged: the snapshot has all that was missed
			if !errors.Is(err, api.ReasonLagged) {
				j.cfg.Log.Warn("reading jobs begins anew", "error", err)
			}
			w.Close()
			var records []*ledger.Record
			records, w = j.watchJobs()
			for _, r := range records {
				j.take(r)
			}
			continue
		}
		for _, r := range change.Put {
			j.take(r)
		}
		for _, key := range change.Del {
			j.dropped(key)
		}
	}
}

// dropped takes out a document that left the ledger without a deletion, as when its
// node was removed from the cluster. A job that goes on is still known by its actor.
func (j *Jobs) dropped(key api.Key) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if key.Kind == api.KindRank {
		if ref, err := api.ParseRankRef(key.Name); err == nil && j.jobs[ref.Job] != nil {
			delete(j.jobs[ref.Job].ranks, key)
		}
		return
	}
	id := api.JobID(key.Name)
	if k := j.jobs[id]; k != nil && k.actor == nil {
		delete(k.docs, key.Node)
		if len(k.docs) == 0 {
			j.drop(id, k)
		}
	}
}

// drop forgets what memory has of a job.
func (j *Jobs) drop(id api.JobID, k *known) {
	delete(j.values, id)
	if rid := k.spec.RequestID; rid != "" {
		if key := (requestKey{k.spec.Principal, rid}); j.requests[key] == id {
			delete(j.requests, key)
		}
	}
	k.body = &j.nothing
	k.changed()
	if !k.gone {
		delete(j.jobs, id)
	}
}

// hints looks for a place again, for jobs that have none, when a fact changed that
// a plan can rest on. Grants count: what another job gives back is there to take.
func (j *Jobs) hints(w *ledger.Watcher) {
	for {
		change, err := w.Next(j.ctx)
		if j.ctx.Err() != nil {
			w.Close()
			return
		}
		states := slices.DeleteFunc(slices.Clone(change.Put), func(r *ledger.Record) bool { return r.Key().Kind != api.KindNodeState })
		j.excuseStopping(states)
		if len(states) > 0 || err != nil {
			j.LinksChanged()
		}
		if err != nil {
			w.Close()
			w = j.watchFacts()
		}
		j.changes.Add(1)
		for _, a := range j.line.firsts() {
			a.post(hint{})
		}
	}
}

// excuse has a node be waited for whose daemon stops or has died: to start it again takes
// longer than it takes to notice a Mac that died, and its ranks run on under their shims.
// Half a lease leaves time to end them all in order.
func (j *Jobs) excuse(node api.NodeID) { j.beater.Excuse(node, j.cfg.Times().Lease/2) }

// excuseStopping excuses nodes whose daemons have said that they stop.
func (j *Jobs) excuseStopping(states []*ledger.Record) {
	for _, r := range states {
		var state api.NodeState
		if r.Decode(&state) == nil && state.State == api.SelfStopping {
			j.excuse(r.Key().Node)
		}
	}
}

func (j *Jobs) watchFacts() *ledger.Watcher {
	_, w := j.cfg.Ledger.Watch(ledger.WatchOptions{Name: "jobs that wait for a place", Passive: true, Filter: ledger.Filter{Kinds: []api.Kind{
		api.KindIdentity, api.KindMemory, api.KindNetwork, api.KindThunderbolt, api.KindRDMA, api.KindReach, api.KindSharing,
		api.KindGPUProfile, api.KindLinkProfile, api.KindGrant, api.KindNodeState}}})
	return w
}

// call asks a node something, for so long at most.
// It asks again where the time passed while this daemon did not run itself: every method
// may be called again with the same.
func (j *Jobs) call(ctx context.Context, node api.NodeID, method string, params, result any, within timeout) error {
	for {
		away := j.away()
		bound, cancel := within.of(ctx, j.cfg.Clock)
		err := j.cfg.Peers.Call(bound, node, method, params, result)
		isLate := bound.Err() != nil
		cancel()
		if err == nil || !isLate || ctx.Err() != nil || j.away() == away {
			return err
		}
	}
}

// callUntilThere is call, and calls again while there is no path to the node, which
// is so for a moment when one of the two daemons was started again.
func (j *Jobs) callUntilThere(ctx context.Context, node api.NodeID, method string, params, result any, within timeout) error {
	ctx, cancel := within.of(ctx, j.cfg.Clock)
	defer cancel()
	for {
		err := j.cfg.Peers.Call(ctx, node, method, params, result)
		if api.AsError(err) == nil || api.AsError(err).Code != api.CodeUnreachable {
			return err
		}
		if !native.Pause(ctx, j.cfg.Clock, callAgain) {
			return err
		}
	}
}
