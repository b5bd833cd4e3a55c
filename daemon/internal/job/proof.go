package job

import (
	"crypto/ed25519"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/job/phase"
	"fulmen/native"
)

// Current is what is known of a job that is not deleted; false where it is, or is not
// known.
func (j *Jobs) Current(id api.JobID) (gate.Known, bool) {
	known, found := j.Known(id)
	return known, found && !known.Gone
}

// Known is what this node knows of a job: the document that counts, of which spec and
// home are proven; false where it knows nothing. Everybody asks here.
func (j *Jobs) Known(id api.JobID) (gate.Known, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	k := j.jobs[id]
	if k == nil || k.gone {
		gone := k != nil || j.memory[id].Gone || j.memory[id].Ended
		return gate.Known{Gone: gone}, gone
	}
	best, ok := k.best()
	if !ok && j.memory[id].Ended {
		return gate.Known{Gone: true}, true
	}
	return gate.Known{Job: best.job, Spec: k.spec, Ended: k.over || j.memory[id].Ended}, ok
}

// Asked is [Jobs.Known] for another node's call, which may come before the stored jobs are
// read: what is said then, as that a job was deleted, would be believed.
func (j *Jobs) Asked(id api.JobID) (gate.Known, bool) {
	select {
	case <-j.ready:
	default:
		ctx, cancel := native.WithTimeout(j.ctx, j.cfg.Clock, callWithin, "the stored jobs")
		defer cancel()
		_ = j.wait(ctx) // what is known then is all that there is to say
	}
	return j.Known(id)
}

// Deleted reports whether a job was deleted. Before the documents are read one that has
// ended is no more to be found than a deleted one, and what it left stays.
func (j *Jobs) Deleted(id api.JobID) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	k := j.jobs[id]
	return k != nil && k.gone || j.memory[id].Gone
}

// Counts reports whether a job's document is proven: whose the job is, and that its
// writer is its home, or was. Whoever reads documents in place of [Jobs.Known] asks.
func (j *Jobs) Counts(id api.JobID, job api.Job) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	k := j.jobs[id]
	if k == nil {
		k = &known{body: &body{}}
	}
	if k.gone {
		return false
	}
	own := job.Home == j.cfg.Node
	spec := k.spec
	if !k.checked(job) {
		var err error
		if spec, err = job.OpenSpec(id, j.cfg.Electors); err != nil {
			return own
		}
	}
	_, err := j.provenLocked(spec, job)
	return own || err == nil
}

// steps signs steps to other homes with this node's key.
type steps struct {
	id      api.JobID
	key     ed25519.PrivateKey
	cluster api.ClusterID
}

// Offer implements phase.Steps.
func (s steps) Offer(job api.Job, to api.NodeID, epoch uint64) api.Succession {
	return job.StepTo(s.cluster, s.id, to, epoch).Offer(s.key)
}

// Act implements phase.Steps.
func (s steps) Act(job api.Job, by api.Principal, to api.NodeID, epoch uint64) api.Succession {
	return job.StepTo(s.cluster, s.id, to, epoch).Act(by, s.key)
}

var _ phase.Steps = steps{}

// boundLocked reports whether a person's take-over, at a node other than the
// submitter's, binds this node: the person is its own, or one of its people said so
// too, or this node was the home, and the leases ran out that it was to renew.
func (j *Jobs) boundLocked(step api.Step, act api.Act) bool {
	if act.By.Node == j.cfg.Node {
		return true
	}
	if m := j.memory[step.Job]; m.Bound == step.Epoch && m.BoundTo == step.Home {
		return true
	}
	k := j.jobs[step.Job]
	return step.From == j.cfg.Node && k != nil && k.lapsed
}

// Bound reports whether a person's take-over at another node binds this one.
func (j *Jobs) Bound(step api.Step, act api.Act) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.boundLocked(step, act)
}

// provenLocked verifies a job's home. isAct says that all is proven but that a
// person's take-over binds this node, which may be so later.
func (j *Jobs) provenLocked(spec api.JobSpec, job api.Job) (isAct bool, err error) {
	if err = job.VerifyHomes(spec, j.cfg.Electors, j.boundLocked); err == nil {
		return false, nil
	}
	anybody := func(api.Step, api.Act) bool { return true }
	return job.VerifyHomes(spec, j.cfg.Electors, anybody) == nil, err
}

// lookAgainLocked takes in what persons elsewhere did, where it binds this node by
// now.
func (j *Jobs) lookAgainLocked(id api.JobID, k *known) {
	for node, h := range k.acts {
		if isAct, err := j.provenLocked(k.spec, h.job); err == nil {
			delete(k.acts, node)
			j.take1Locked(id, k, node, h)
		} else if !isAct {
			delete(k.acts, node)
		}
	}
	for node, homes := range k.ends {
		if j.mayEndLocked(k, node, homes) {
			delete(k.ends, node)
			j.spawn(func() { j.ended(id) })
		}
	}
}

// mayEndLocked reports whether the deletion of a job's document by a node counts:
// the node is or was a legitimate home of the job.
func (j *Jobs) mayEndLocked(k *known, node api.NodeID, homes []api.Succession) bool {
	best, ok := k.best()
	if !ok {
		return false
	}
	if best.job.WasHome(k.spec, node) {
		return true
	}
	claimed := api.SteppedJob(k.spec, best.job.SpecSHA256, homes)
	_, err := j.provenLocked(k.spec, claimed)
	return claimed.Home == node && err == nil
}

// remember changes what is remembered of a job, on disk before it returns.
func (j *Jobs) remember(id api.JobID, change func(*Remembered)) error {
	j.remembering.Lock()
	defer j.remembering.Unlock()
	j.mu.Lock()
	m := j.memory[id]
	until, keptBy := api.TimeOf(j.cfg.Clock.Now().Add(api.SpecLifetime+api.ClockTolerance)), api.NodeID("")
	if k := j.jobs[id]; k != nil && k.spec.Kept {
		keptBy = k.spec.Principal.Node
	} else if k != nil && !k.spec.ExpiresAt.IsZero() {
		until = api.TimeOf(k.spec.ExpiresAt.Add(api.ClockTolerance))
	}
	j.mu.Unlock()
	before := m
	change(&m)
	if m == before {
		return nil
	}
	if m.Until.IsZero() {
		m.Until, m.KeptBy = until, keptBy
	}
	if err := j.cfg.Memory.SaveJob(id, m); err != nil {
		return err
	}
	j.mu.Lock()
	j.memory[id] = m
	j.mu.Unlock()
	return nil
}

// remembers is remember where nothing waits for it.
func (j *Jobs) remembers(id api.JobID, change func(*Remembered)) {
	if err := j.remember(id, change); err != nil {
		j.cfg.Log.Error("the end of a job is not on disk", "job", id, "error", err)
	}
}

// forgetOld drops what may be forgotten.
func (j *Jobs) forgetOld() {
	now := j.now()
	var old []api.JobID
	j.mu.Lock()
	for id, m := range j.memory {
		_, isKept := j.cfg.Electors.PublicKey(m.KeptBy)
		if !isKept && now.After(m.Until.Time) && (j.jobs[id] == nil || j.jobs[id].gone) {
			old = append(old, id)
			delete(j.memory, id)
			delete(j.jobs, id)
		}
	}
	j.mu.Unlock()
	if len(old) > 0 {
		if err := j.cfg.Memory.DropJobs(old); err != nil {
			j.cfg.Log.Warn("what is over of old jobs could not be dropped", "error", err)
		}
	}
}

// Bounds of a document that another node wrote, beyond what any home writes.
const (
	maxEpoch    = 1 << 53
	maxAttempts = 1 << 10
)

// sane reports whether a job's document can be reckoned with: its numbers are in
// range, and its plans number their ranks in order.
func sane(job api.Job) bool {
	if job.Epoch < 1 || job.Epoch > maxEpoch || job.Attempt < 0 || job.Attempt > api.MaxAttempt || !job.Phase.Valid() ||
		len(job.Attempts) > maxAttempts || job.Phase.Ended() != (job.ExitCode != nil) {
		return false
	}
	for _, at := range job.Attempts {
		if at.Attempt < 1 || at.Attempt > api.MaxAttempt || at.Plan != nil && !ordered(*at.Plan) {
			return false
		}
	}
	return true
}

// ordered reports whether a plan has ranks, each at its own number on a node.
func ordered(p api.Plan) bool {
	for i, r := range p.Ranks {
		if r.Rank != i || !r.Node.Valid() {
			return false
		}
	}
	return len(p.Ranks) > 0 && len(p.Ranks) <= api.MaxRank+1
}
