package job

import (
	"bytes"
	"errors"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
)

// ClusterChanged follows this node into another cluster. Specs are signed for one
// cluster, so that those of this node's people are signed again, of every job whose
// home it is. Jobs of people of a former cluster end.
func (j *Jobs) ClusterChanged() {
	for _, a := range j.actors() {
		a.post(a.look) // an actor signs before it takes anything
	}
	j.spawn(j.signEnded)
}

// signedAnew is a job of this node's people, whose home it is, as it is signed for the
// cluster of now; false where it is another node's to sign.
func (j *Jobs) signedAnew(job api.Job, spec api.JobSpec) (api.Job, api.JobSpec, bool) {
	if spec.Principal.Node != j.cfg.Node || job.Home != j.cfg.Node {
		return job, spec, false
	}
	cluster := j.cfg.Electors.Cluster()
	spec.Home, spec.Roster = j.cfg.Node, j.cfg.Roster()
	raw, sig, err := api.SignSpec(cluster, j.cfg.Key, spec)
	if err != nil {
		j.cfg.Log.Error("a job's spec cannot be signed again", "job", spec.Job, "error", err)
		return job, spec, false
	}
	job.Spec, job.SpecSig, job.SpecSHA256, job.Homes = raw, sig, api.SpecSHA256(raw), nil
	if job.Epoch > 1 {
		first := job
		first.Epoch = 1
		step := first.StepTo(cluster, spec.Job, j.cfg.Node, job.Epoch)
		job.Homes = []api.Succession{step.Offer(j.cfg.Key)}
		if step.BeginsTerm() {
			job.Homes = []api.Succession{step.Act(spec.Principal, j.cfg.Key)}
		}
	}
	job.Attempts = slices.Clone(job.Attempts)
	for i, at := range job.Attempts {
		if at.Plan != nil {
			plan := *at.Plan
			plan.SpecSHA256 = job.SpecSHA256
			job.Attempts[i].Plan = &plan
		}
	}
	return job, spec, true
}

// sign signs the job again where the node is in another cluster than when that was
// done last. The ranks come first: an order by the new spec finds them bound to it.
func (a *actor) sign(job api.Job) (api.Job, bool) {
	cluster := a.j.cfg.Electors.Cluster()
	if a.cluster == cluster {
		return job, true
	}
	a.cluster = cluster
	signed, spec, isOwn := a.j.signedAnew(job, a.spec)
	if !isOwn {
		return job, false
	}
	a.spec = spec
	a.j.cfg.Bind(a.id, signed.SpecSHA256)
	if job.Phase.Ended() {
		a.j.writeEnded(a.id, signed)
	} else {
		a.put(signed)
	}
	return signed, true
}

// follow signs the job again, or ends it where this node cannot, before anything else
// is done for it.
func (a *actor) follow() {
	if !a.begun || a.failure != nil || a.state.Role != phase.RoleHome || a.cluster == a.j.cfg.Electors.Cluster() {
		return
	}
	job, isOwn := a.sign(a.state.Job)
	if !isOwn {
		a.event(phase.StopAsked{By: a.spec.Principal, Reason: api.ReasonRemoved})
		return
	}
	a.event(phase.Signed{Job: job, Steps: a.steps()})
}

// anew gives what a call for an effect comes to. Where a node refused it because the
// job was signed for another cluster meanwhile, the effect is carried out once more.
func (a *actor) anew(e phase.Effect) func(err error, then func()) func() {
	sig, attempt := a.state.Job.SpecSig, a.state.Job.Attempt
	return func(err error, then func()) func() {
		if !errors.Is(err, api.ReasonSpecAltered) {
			return then
		}
		return func() {
			switch job := a.state.Job; {
			case bytes.Equal(job.SpecSig, sig):
				then()
			case a.state.Role == phase.RoleHome && !job.Phase.Ended() && job.Attempt == attempt:
				a.carry([]phase.Effect{e})
			}
		}
	}
}

// signEnded signs the jobs that have ended again, the oldest first: in that order they
// are deleted once there are too many.
func (j *Jobs) signEnded() {
	j.purging.Lock()
	defer j.purging.Unlock()
	cluster := j.cfg.Electors.Cluster()
	type ended struct {
		held
		spec api.JobSpec
	}
	var all []ended
	j.mu.Lock()
	for _, k := range j.jobs {
		best, ok := k.best()
		if ok && k.actor == nil && k.cluster != cluster && best.job.Home == j.cfg.Node && best.job.Phase.Ended() {
			all = append(all, ended{best, k.spec})
		}
	}
	j.mu.Unlock()
	slices.SortFunc(all, func(a, b ended) int { return a.record.Version().Compare(b.record.Version()) })
	for _, e := range all {
		job, _, isOwn := j.signedAnew(e.job, e.spec)
		if !isOwn || j.ctx.Err() != nil {
			continue
		}
		j.cfg.Bind(e.spec.Job, job.SpecSHA256)
		j.writeEnded(e.spec.Job, job)
	}
}

// writeEnded is write for a job that a person may delete at the same time: it stays
// deleted. What cannot be written now is at the next start.
func (j *Jobs) writeEnded(id api.JobID, job api.Job) {
	isDeleted := func() bool {
		j.mu.Lock()
		defer j.mu.Unlock()
		k := j.jobs[id]
		return k == nil || k.reported || k.gone
	}
	if isDeleted() {
		return
	}
	err := j.write(id, job)
	if err == nil && isDeleted() {
		err = j.cfg.Documents.DeleteJob(id, job.Homes)
	}
	if err != nil {
		j.cfg.Log.Warn("a job that has ended is not signed for the new cluster", "job", id, "error", err)
	}
}
