package job

import (
	"context"
	"maps"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/job/phase"
)

// handed makes this node the home of a job that the home before offers it. Asked again
// it says so again.
func (j *Jobs) handed(ctx context.Context, o gate.Offered, p api.PeerJobParams) (any, error) {
	if err := j.wait(ctx); err != nil {
		return nil, err
	}
	job, spec := o.Job(), o.Spec()
	if !sane(job) || job.Phase.Ended() || job.Attempt != 0 || len(job.Attempts) > 0 {
		return nil, api.Errorf(api.ReasonBadValue, "handed", "Only a job that was never planned is handed over.")
	}
	if err := checkEnvironment(spec.Program, p.Environment, true); err != nil {
		return nil, err
	}
	job.ExitCode, job.EndedAt = nil, api.Time{}
	j.mu.Lock()
	k := j.know(p.Job)
	if k.gone || j.memory[p.Job].Gone {
		j.mu.Unlock()
		return nil, api.NewError(api.ReasonJobDeleted, p.Job.String())
	}
	if len(p.Environment) > 0 && j.values[p.Job] == nil {
		j.values[p.Job] = maps.Clone(p.Environment)
	}
	if own, ok := k.docs[j.cfg.Node]; ok && own.job.Epoch >= job.Epoch {
		j.mu.Unlock()
		return api.Empty{}, nil // it took the job when it was asked before
	}
	for _, h := range k.docs {
		if h.job.Epoch >= job.Epoch || h.job.Home == p.Handed.Home && h.job.Attempt > 0 {
			j.mu.Unlock()
			return nil, api.Errorf(api.ReasonStaleEpoch, p.Job.String(), "The job has gone on without this node.")
		}
	}
	j.mu.Unlock()
	return api.Empty{}, j.accept(ctx, p.Job, spec, j.cfg.Electors.Cluster(), job)
}

// accept makes this node the home of a job that is new to it, and whose spec was signed
// or checked just now for a cluster, once its document is on disk. Otherwise the error says why, and
// the job is not here.
func (j *Jobs) accept(ctx context.Context, id api.JobID, spec api.JobSpec, cluster api.ClusterID, job api.Job) error {
	j.mu.Lock()
	k := j.know(id)
	if k.raw == nil && !k.gone {
		k.spec, k.raw, k.sig, k.cluster = spec, job.Spec, job.SpecSig, cluster
	}
	a := k.actor
	if a == nil {
		a = newActor(j, id)
		k.actor = a
	}
	j.mu.Unlock()
	var refused error
	// An early answer would be taken for a refusal, when the job may be here.
	err := a.await(ctx, func() []phase.Effect {
		if a.begun && (a.state.Role == phase.RoleHome || a.state.Job.Epoch >= job.Epoch) {
			if a.state.Role != phase.RoleHome || a.state.Job.Epoch != job.Epoch {
				refused = api.NewError(api.ReasonStaleEpoch, id.String())
			}
			return nil
		}
		before, begun, signedFor := a.state, a.begun, a.cluster
		a.stopTimers()
		a.spec, a.cluster, a.begun, a.trial = spec, cluster, true, true
		var out []phase.Effect
		a.state, out = phase.Accept(j.cfg.Node, job, a.rules(), j.now())
		a.carry(out)
		if a.failure == nil {
			a.see(j.sight())
			a.recallOthers()
		}
		if refused = a.failure; refused != nil {
			a.stepOut()
			a.stopTimers()
			a.state, a.begun = before, begun
			if begun {
				a.failure, a.trial = nil, false
				a.begun = false
				a.begin(begin{job: before.Job, spec: spec, cluster: signedFor})
			}
		}
		return nil
	}, never)
	if err != nil {
		return err
	}
	return refused
}

// ask lets the actor do something and waits until it has. Where the job cannot go
// on the error says why: the wish is kept until it can.
func (a *actor) ask(ctx context.Context, do func() []phase.Effect) error {
	return a.await(ctx, do, a.halting)
}

// await is ask, which gives up early once halting gives a channel that is closed.
func (a *actor) await(ctx context.Context, do func() []phase.Effect, halting func() (<-chan struct{}, error)) error {
	done := make(chan struct{})
	if !a.post(wish{do, done}) {
		return api.NewError(api.ReasonJobEnded, a.id.String())
	}
	ctx, cancel := timeout{wishWithin, "the job " + a.id.String() + " to take a wish"}.of(ctx, a.j.cfg.Clock)
	defer cancel()
	for {
		halt, why := halting()
		if why != nil {
			e := api.Errorf(api.AsError(why).Data.Reason, a.id.String(), "The job waits, and does as asked when it can go on: %s", api.AsError(why).Message)
			e.Data.Remedy = api.AsError(why).Data.Remedy
			return e
		}
		select {
		case <-done:
			return nil
		case <-halt:
		case <-a.j.ctx.Done():
			return api.NewError(api.ReasonStopping, "")
		case <-ctx.Done():
			if err := context.Cause(ctx); err != context.Canceled {
				e := api.NewError(api.ReasonDeadline, a.id.String())
				e.Data.WaitingFor = err.Error()
				return e
			}
			return api.NewError(api.ReasonCancelled, "")
		}
	}
}

// halting gives what is closed when nothing can go on, and why where that is so.
func (a *actor) halting() (<-chan struct{}, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.halt, a.stuck
}

// never is halting for what must not be answered before it is done.
func never() (<-chan struct{}, error) { return nil, nil }

// Caller is who calls a method of the API.
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

// speaker is whose wish a caller's is at another node. An administrator speaks
// for this node's people, for whom it vouches, and for nobody else's.
func (j *Jobs) speaker(c Caller, of api.Principal) api.Principal {
	if c.Admin && of.Node == j.cfg.Node {
		return of
	}
	return c.Principal
}
