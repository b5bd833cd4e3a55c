package job

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
)

// Delete forgets a job that has ended, on every node: those that cannot be told
// now learn of it from the deletion of its document.
func (j *Jobs) Delete(ctx context.Context, c Caller, p api.JobDeleteParams) error {
	if p.Output != "" && !p.Output.Valid() {
		return bad("output", "Use delete or keep.", "%q is not a policy", p.Output)
	}
	job, spec, err := j.find(ctx, c, p.Job)
	if err != nil {
		return err
	}
	if !job.Phase.Ended() {
		return api.NewError(api.ReasonJobRunning, p.Job.String())
	}
	if job.Home == j.cfg.Node {
		return j.delete(ctx, p.Job, p.Output)
	}
	params := api.PeerJobParams{RequestKind: api.RequestDelete, Job: p.Job, By: j.speaker(c, spec.Principal), Output: p.Output}
	err = j.callUntilThere(ctx, job.Home, "peer.job", params, nil, requestWithin, "to delete the job "+p.Job.String())
	switch {
	case errors.Is(err, api.ReasonJobDeleted):
		return nil
	case errors.Is(err, api.ReasonNoSuchJob):
		return api.Errorf(api.ReasonNoSuchJob, p.Job.String(), "%s, which kept the job, no longer knows it.", j.name(job.Home))
	}
	if err = j.homeAnswer(p.Job, job.Home, err, "deleted"); errors.Is(err, api.ReasonHomeLost) {
		api.AsError(err).Data.Remedy = "Delete it when " + j.name(job.Home) + " is back."
	}
	return err
}

// deleteRequested takes the request of a person at the home; elsewhere the home's word
// that the job is forgotten.
func (j *Jobs) deleteRequested(ctx context.Context, who gate.Acting, p api.PeerJobParams) (any, error) {
	if p.Output != "" && !p.Output.Valid() {
		return nil, bad("output", "Use delete or keep.", "%q is not a policy", p.Output)
	}
	if who.IsHome() {
		return api.Empty{}, j.forget(ctx, p.Job, p.Output)
	}
	home, _, ended := j.homeOf(p.Job)
	switch {
	case home != j.cfg.Node:
		return nil, api.Errorf(api.ReasonStaleEpoch, p.Job.String(), "%s keeps the job.", j.name(home))
	case !ended:
		return nil, api.NewError(api.ReasonJobRunning, p.Job.String())
	}
	return api.Empty{}, j.delete(ctx, p.Job, p.Output)
}

// delete tells every node that has something of the job, and then deletes its
// document, whose deletion tells those that did not answer.
func (j *Jobs) delete(ctx context.Context, id api.JobID, output api.OutputPolicy) error {
	j.mu.Lock()
	k := j.jobs[id]
	if k == nil || k.gone {
		j.mu.Unlock()
		return nil
	}
	nodes, spec := knows(k), k.spec
	j.mu.Unlock()
	output = cmp.Or(output, spec.Output)
	params := api.PeerJobParams{RequestKind: api.RequestDelete, Job: id, By: spec.Principal, Output: output}
	var all sync.WaitGroup
	for _, n := range nodes {
		if n == j.cfg.Node || !slices.Contains(j.cfg.Presence.Reached(), n) {
			continue
		}
		all.Go(func() {
			if err := j.call(ctx, n, "peer.job", params, nil, callWithin, "to forget the job "+id.String()); err != nil {
				j.cfg.Log.Info("a node will forget a job later", "job", id, "node", n, "error", err)
			}
		})
	}
	all.Wait()
	return j.forget(ctx, id, output)
}

// forget forgets what this node has of a job. It may be repeated.
func (j *Jobs) forget(ctx context.Context, id api.JobID, output api.OutputPolicy) error {
	if err := j.remember(id, func(m *Remembered) { m.Gone = true }); err != nil {
		return err
	}
	var homes []api.Succession
	j.mu.Lock()
	k := j.know(id)
	k.reported = true // else the deletion below would be heard as another's, which goes by the spec's policy
	if own, ok := k.docs[j.cfg.Node]; ok {
		homes = own.job.Homes
	}
	j.mu.Unlock()
	j.cfg.Forget(ctx, id, output)
	if err := j.cfg.Documents.DeleteJob(id, homes); err != nil {
		return err
	}
	j.gone(id)
	return nil
}

// gone takes a deleted job out of memory; its name stays, so that a document of it
// that comes late begins nothing.
func (j *Jobs) gone(id api.JobID) {
	j.mu.Lock()
	k := j.know(id)
	k.gone = true
	a := k.actor
	k.actor = nil
	j.drop(id, k)
	j.mu.Unlock()
	if a != nil {
		a.post(a.abandon)
	}
}

// deleted hears of the deletion of a job's document. It counts where its writer is or
// was the job's home; else it is kept in mind until that is proven.
func (j *Jobs) deleted(id api.JobID, node api.NodeID, homes []api.Succession) {
	j.mu.Lock()
	k := j.know(id)
	counts := k.gone || j.memory[id].Gone || node == j.cfg.Node || j.mayEndLocked(k, node, homes)
	if !counts {
		k.ends[node] = homes
	}
	j.mu.Unlock()
	if counts {
		j.ended(id)
	}
}

// ended acts on a deletion that counts: a job is deleted once it has ended, whatever
// this node still believes. Ranks that live all the same are not renewed any more.
func (j *Jobs) ended(id api.JobID) {
	_, own := j.cfg.Ledger.Get(j.key(id))
	j.mu.Lock()
	k := j.know(id)
	reported, loaded, output := k.gone || k.reported, j.loaded, k.spec.Output
	j.mu.Unlock()
	j.gone(id)
	if loaded && (!reported || own) {
		j.spawn(func() { j.forgetLater(id, output) })
	}
}

func (j *Jobs) forgetLater(id api.JobID, output api.OutputPolicy) {
	if err := j.forget(j.ctx, id, output); err != nil {
		j.cfg.Log.Warn("a deleted job is not forgotten yet", "job", id, "error", err)
	}
}

// abandon stops all that the actor does.
func (a *actor) abandon() {
	a.stopTimers()
	a.mu.Lock()
	a.over, a.queue = true, nil
	a.mu.Unlock()
	a.stepOut()
	a.begun = false
	a.shown.Store(&shown{})
	a.j.setBeats()
}

// purge deletes the oldest of the ended jobs that this node keeps, beyond as many
// as are kept. The clock may have been set since: what was written first is oldest.
func (j *Jobs) purge() {
	j.purging.Lock()
	defer j.purging.Unlock()
	type old struct {
		id api.JobID
		at api.Version
	}
	var ended []old
	j.mu.Lock()
	for id, k := range j.jobs {
		if best, ok := k.best(); ok && best.job.Home == j.cfg.Node && best.job.Phase.Ended() {
			ended = append(ended, old{id, best.record.Version()})
		}
	}
	j.mu.Unlock()
	slices.SortFunc(ended, func(a, b old) int { return a.at.Compare(b.at) })
	for len(ended) > j.cfg.Keep && j.ctx.Err() == nil {
		if err := j.delete(j.ctx, ended[0].id, ""); err != nil {
			j.cfg.Log.Warn("an old job is not deleted yet", "job", ended[0].id, "error", err)
			return
		}
		ended = ended[1:]
	}
}
