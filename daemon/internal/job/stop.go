package job

import (
	"context"
	"errors"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/job/phase"
	"fulmen/native"
)

// Stop ends a job, wherever its home is. It returns once the home has the request on
// disk; that all ranks have ended is told by Watch.
func (j *Jobs) Stop(ctx context.Context, c Caller, p api.JobStopParams) error {
	job, spec, err := j.find(ctx, c, p.Job)
	if err != nil {
		return err
	}
	if job.Phase.Ended() {
		return nil // as wished
	}
	return j.stop(ctx, api.PeerJobParams{RequestKind: api.RequestStop, Job: p.Job, By: j.speaker(c, spec.Principal), Kill: p.Kill})
}

// runsAs refuses to end a job of which a program runs.
func runsAs(spec api.JobSpec) error {
	return api.Errorf(api.ReasonJobRunning, spec.Job.String(), "%s runs as %s, and the change would end it.", spec.Name, spec.Job).
		WithRemedy("Wait until it ends, or ask for it to be replaced.")
}

// ClientGone ends an attached job whose client has left. A detached one goes on.
func (j *Jobs) ClientGone(ctx context.Context, id api.JobID) error {
	job, spec, err := j.find(ctx, Caller{Admin: true}, id)
	if err != nil || job.Phase.Ended() || spec.Detached {
		return err
	}
	return j.stop(ctx, api.PeerJobParams{RequestKind: api.RequestStop, Job: id, By: spec.Principal, Reason: api.ReasonClientGone})
}

// stop takes a request to the home, following it for a while when it moves.
func (j *Jobs) stop(ctx context.Context, p api.PeerJobParams) error {
	until := j.cfg.Clock.Boot() + homeTimeout
	for {
		err := j.stopOnce(ctx, p)
		if err == nil || !errors.Is(err, api.ReasonStaleEpoch) && !errors.Is(err, api.ReasonNoSuchJob) || j.cfg.Clock.Boot() >= until {
			return err
		}
		if !native.Pause(ctx, j.cfg.Clock, 100*time.Millisecond) {
			return context.Cause(ctx)
		}
	}
}

func (j *Jobs) stopOnce(ctx context.Context, p api.PeerJobParams) error {
	home, a, ended := j.homeOf(p.Job)
	switch {
	case ended:
		return nil
	case home == j.cfg.Node:
		return j.stopHere(ctx, a, p)
	case home == "":
		return api.NewError(api.ReasonNoSuchJob, p.Job.String())
	}
	err := j.call(ctx, home, "peer.job", p, nil, requestWithin, "to stop the job "+p.Job.String())
	return j.homeAnswer(p.Job, home, err, "stopped")
}

// homeAnswer is what came of a request that a job's home was told: where it did not answer, who
// that is, and what was not done.
func (j *Jobs) homeAnswer(id api.JobID, home api.NodeID, err error, done string) error {
	if err == nil || definite(err) {
		return err
	}
	return api.Errorf(api.ReasonHomeLost, id.String(), "%s, which keeps the job, did not answer, so that it was not %s.", j.name(home), done).
		WithWait("node " + j.name(home))
}

// homeOf is the home as this node knows it, and the job's actor here.
func (j *Jobs) homeOf(id api.JobID) (home api.NodeID, a *actor, ended bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	k := j.jobs[id]
	if k == nil {
		return "", nil, false
	}
	best, ok := k.best()
	if !ok {
		return "", k.actor, k.gone
	}
	if k.actor != nil {
		if s := k.actor.shown.Load(); s.home != "" && s.epoch >= best.job.Epoch {
			// Others may have its end from the document before the actor shows it.
			return s.home, k.actor, s.phase.Ended() || best.job.Epoch == s.epoch && best.job.Phase.Ended()
		}
	}
	return best.job.Home, k.actor, best.job.Phase.Ended()
}

// stopHere gives this home the request, and waits until it is on disk.
func (j *Jobs) stopHere(ctx context.Context, a *actor, p api.PeerJobParams) error {
	if a == nil {
		return api.NewError(api.ReasonStaleEpoch, p.Job.String())
	}
	taken := false
	var refused error
	err := a.ask(ctx, func() {
		taken = a.state.Role == phase.RoleHome
		if p.Unstarted && hasProgram(a.state.Job.Phase) {
			refused = runsAs(a.spec)
		} else if taken {
			a.event(phase.StopAsked{By: p.By, Kill: p.Kill, Reason: p.Reason})
		}
	})
	switch {
	case errors.Is(err, api.ReasonJobEnded):
		return nil
	case err == nil && !taken:
		return api.NewError(api.ReasonStaleEpoch, p.Job.String())
	case err == nil:
		return refused
	}
	return err
}

// stopRequested takes the request of another node's person, or what a former home passes on.
func (j *Jobs) stopRequested(ctx context.Context, _ gate.Acting, p api.PeerJobParams) (any, error) {
	if p.Reason != "" && p.Reason != api.ReasonClientGone && p.Reason != api.ReasonReplaced {
		return nil, api.Errorf(api.ReasonBadValue, "reason", "%q is not a reason to stop a job.", p.Reason)
	}
	home, a, ended := j.homeOf(p.Job)
	switch {
	case ended:
		return api.Empty{}, nil
	case home != j.cfg.Node:
		return nil, api.Errorf(api.ReasonStaleEpoch, p.Job.String(), "%s keeps the job.", j.name(home))
	}
	return api.Empty{}, j.stopHere(ctx, a, p)
}

// agree binds this node to what a person elsewhere did: a take-over of the job that is
// known of here and not followed. False where there is none.
func (j *Jobs) agree(id api.JobID, now api.Job) (bool, error) {
	j.mu.Lock()
	var act api.Job
	if k := j.jobs[id]; k != nil {
		for _, h := range k.acts {
			if h.job.Outranks(now) && (act.Epoch == 0 || h.job.Outranks(act)) {
				act = h.job
			}
		}
	}
	j.mu.Unlock()
	if act.Epoch == 0 {
		return false, nil
	}
	if err := j.remember(id, func(m *Remembered) { m.Bound, m.BoundTo = act.Epoch, act.Home }); err != nil {
		return false, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if k := j.jobs[id]; k != nil {
		j.lookAgainLocked(id, k)
	}
	return true, nil
}

// TakeOver makes this node the home of a job whose home is gone, or has it follow a
// take-over by a person at another node.
func (j *Jobs) TakeOver(ctx context.Context, c Caller, p api.JobSelect) error {
	job, _, err := j.find(ctx, c, p.Job)
	if err != nil {
		return err
	}
	if job.Phase.Ended() {
		return api.NewError(api.ReasonJobEnded, p.Job.String())
	}
	_, a, _ := j.homeOf(p.Job)
	if a == nil {
		return api.NewError(api.ReasonNoSuchJob, p.Job.String())
	}
	if agreed, err := j.agree(p.Job, job); agreed || err != nil {
		return err
	}
	var home api.NodeID
	err = a.ask(ctx, func() {
		a.event(phase.TakeOver{By: c.Principal})
		if a.state.Role != phase.RoleHome {
			home = a.state.Job.Home
		}
	})
	if err == nil && home != "" {
		e := api.Errorf(api.ReasonHomeInSight, p.Job.String(), "%s, which keeps the job, answers.", j.name(home))
		return e
	}
	return err
}
