package job

import (
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// followJobs begins to read what is said of jobs and ranks, deletions too.
func (j *Jobs) followJobs() ([]*ledger.Record, *ledger.Follower) {
	return j.cfg.Ledger.Follow(ledger.WatchOptions{
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
		j.forgetOld() // first: what is forgotten again below would be remembered from now on
		for _, r := range records {
			id := api.JobID(r.Key().Name)
			if k, found := j.Known(id); r.Deleted() && r.Key().Kind == api.KindJob && found && k.Gone && j.ctx.Err() == nil {
				j.forgetLater(id, "")
			}
		}
	})
	j.spawn(j.signEnded)
	j.spawn(j.purge)
}

func (j *Jobs) take(r *ledger.Record) {
	if r.Key().Kind == api.KindRank {
		j.absorbRank(r)
	} else {
		j.absorb(r)
	}
}

// see takes in what changed.
func (j *Jobs) see(change ledger.Change) {
	for _, r := range change.Put {
		j.take(r)
	}
	for _, key := range change.Del {
		j.dropped(key)
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
func (j *Jobs) hints(facts *ledger.Follower) {
	defer facts.Close()
	for {
		change, err := facts.Next(j.ctx)
		if err != nil {
			return
		}
		states := slices.DeleteFunc(slices.Clone(change.Put), func(r *ledger.Record) bool { return r.Key().Kind != api.KindNodeState })
		if !change.Whole { // what stopped before is excused no more
			j.allowStopping(states)
		}
		if len(states) > 0 || change.Whole {
			j.LinksChanged()
		}
		j.hintFirsts()
	}
}

// allowSilence has a node be waited for whose daemon stops or has died: to start it again takes
// longer than it takes to notice a Mac that died, and its ranks run on under their shims.
// Half a lease leaves time to end them all in order.
func (j *Jobs) allowSilence(node api.NodeID) { j.beater.AllowSilence(node, j.cfg.Times().Lease/2) }

// allowStopping excuses nodes whose daemons have said that they stop.
func (j *Jobs) allowStopping(states []*ledger.Record) {
	for _, r := range states {
		var state api.NodeState
		if r.Decode(&state) == nil && state.State == api.SelfStopping {
			j.allowSilence(r.Key().Node)
		}
	}
}

func (j *Jobs) followFacts() *ledger.Follower {
	_, f := j.cfg.Ledger.Follow(ledger.WatchOptions{Name: "jobs that wait for a place", Passive: true, Filter: ledger.Filter{Kinds: []api.Kind{
		api.KindIdentity, api.KindMemory, api.KindNetwork, api.KindThunderbolt, api.KindRDMA, api.KindReach, api.KindSharing,
		api.KindGPUProfile, api.KindLinkProfile, api.KindGrant, api.KindNodeState}}})
	return f
}

// Caller is the person who calls a method of the API.
type Caller struct {
	// Principal is the person; of this node.
	Principal api.Principal
	// Admin says that it is an administrator of this Mac.
	Admin bool
}

// may reports whether one principal may act for another.
func (j *Jobs) may(by, of api.Principal) bool {
	return by.Valid() && (by == of || j.cfg.Access.May(by, of))
}

// allowed refuses a caller who may not act for the job's principal.
func (j *Jobs) allowed(c Caller, id api.JobID, of api.Principal) error {
	if c.Admin || j.may(c.Principal, of) {
		return nil
	}
	return api.NewError(api.ReasonNotYourJob, id.String())
}

// speaker is whose request a caller's is at another node. An administrator speaks
// for this node's people, for whom it vouches, and for nobody else's.
func (j *Jobs) speaker(c Caller, of api.Principal) api.Principal {
	if c.Admin && of.Node == j.cfg.Node {
		return of
	}
	return c.Principal
}
