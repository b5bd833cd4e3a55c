package job

import (
	"errors"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// carry does what the phase machine wants, in its order. What does not come to
// disk stops what rests on it.
func (a *actor) carry(effects []phase.Effect) {
	for _, e := range effects {
		if a.failure != nil || a.j.ctx.Err() != nil {
			return
		}
		switch e := e.(type) {
		case phase.PutDocument:
			a.put(e.Job)
		case phase.AskPlan:
			a.plan()
		case phase.HandOver:
			a.handOver(e)
		case phase.AskVotes:
			a.askVotes(e)
		case phase.Preflight:
			a.preflight(e)
		case phase.AskGrant:
			a.askGrant(e)
		case phase.Release:
			a.release(e)
		case phase.StartRank:
			a.startRank(e)
		case phase.SpawnRank:
			a.spawnRank(e)
		case phase.Renew:
			a.renew(e)
		case phase.EndRanks:
			a.endRanks(e)
		case phase.ForwardStop:
			a.forwardStop(e)
		case phase.StartTimer:
			a.startTimer(e.Timer, e.After)
		case phase.StopTimer:
			if t, runs := a.timers[e.Timer]; runs {
				t.Stop()
				delete(a.timers, e.Timer)
			}
		case phase.TellTerminal:
			a.j.cfg.Log.Info("a job has ended", "job", a.id, "phase", e.Phase, "exit_code", e.ExitCode)
		}
	}
}

// put writes the document, and tries until it can: nothing goes on before. Ranks
// that run meanwhile are not renewed and end by their leases. A wish that nobody
// has been promised anything for is refused instead.
func (a *actor) put(job api.Job) {
	began, away := a.j.cfg.Clock.Boot(), a.j.away()
	for said := false; ; said = true {
		err := a.j.write(a.id, job)
		switch {
		case err == nil:
			a.trial = false
			a.halted(nil)
			if said {
				stalled := a.j.cfg.Clock.Boot() - began - (a.j.away() - away)
				a.stalled += stalled
				a.countAnew(stalled)
			}
			return
		case a.trial:
			a.failure = err
			return
		case !said:
			a.j.cfg.Log.Error("a job's document cannot be written; the job waits", "job", a.id, "error", err)
		}
		a.halted(err)
		if !a.pause(retryPut) {
			return
		}
	}
}

// write publishes a document of this node and takes it in at once. What the document
// points to is not changed any more: see [phase.Next].
func (j *Jobs) write(id api.JobID, job api.Job) error {
	err := j.cfg.Documents.Put(api.KindJob, id.String(), job, nil)
	if errors.Is(err, api.ReasonDocumentTooLarge) {
		job = smaller(job)
		err = j.cfg.Documents.Put(api.KindJob, id.String(), job, nil)
	}
	if err != nil {
		return err
	}
	if r, ok := j.cfg.Ledger.Get(j.key(id)); ok {
		ledger.Share(r, job)
		j.absorb(r)
	}
	return nil
}

func (j *Jobs) key(id api.JobID) api.Key {
	return api.Key{Node: j.cfg.Node, Kind: api.KindJob, Name: id.String()}
}

// maxPhasesSmall are the phases that a document keeps that would be too large.
const maxPhasesSmall = 64

// smaller leaves out of a document what is for people only: earlier plans, what
// plans rest on, and early phases.
func smaller(job api.Job) api.Job {
	attempts := make([]api.Attempt, len(job.Attempts))
	for i, at := range job.Attempts {
		if at.Plan != nil && at.Attempt != job.Attempt {
			at.Plan = nil
		} else if at.Plan != nil {
			plan := *at.Plan
			plan.Used, plan.Notes = nil, nil
			at.Plan = &plan
		}
		attempts[i] = at
	}
	job.Attempts = attempts
	if over := len(job.Phases) - maxPhasesSmall; over > 0 {
		job.Phases = job.Phases[over:]
	}
	return job
}

// pause waits; false at the end of everything.
func (a *actor) pause(d time.Duration) bool { return native.Pause(a.j.ctx, a.j.cfg.Clock, d) }

// forwardStop tells the new home of a wish that the former one has taken.
func (a *actor) forwardStop(e phase.ForwardStop) {
	params := api.PeerJobParams{Wish: api.WishStop, Job: a.id, By: e.Stop.By, Kill: e.Stop.Kill}
	a.async(func() came {
		for {
			err := a.j.call(a.j.ctx, e.To, "peer.job", params, nil, a.j.within(wishWithin, e.To, "to stop the job "+a.id.String()))
			if err == nil || definite(err) || !a.pause(retryPut) {
				if err != nil {
					a.j.cfg.Log.Warn("a stop was not taken by the job's new home", "job", a.id, "node", e.To, "error", err)
				}
				return came{}
			}
		}
	})
}

// handOver asks another node to be the home. That it is, its document says; until that has
// come the phase machine asks again.
func (a *actor) handOver(e phase.HandOver) {
	job := e.Job
	params := api.PeerJobParams{Wish: api.WishSubmit, Job: a.id, By: job.Principal, Handed: &job, Offer: &e.Offer, Environment: a.j.environment(a.id)}
	a.async(func() came {
		err := a.j.call(a.j.ctx, e.To, "peer.job", params, nil, a.j.within(wishWithin, e.To, "to keep the job "+a.id.String()))
		switch {
		case err == nil:
			return came{}
		case definite(err):
			if newer := a.j.newerHome(a.id, e.To, err); newer != nil {
				return events(newer)
			}
			return events(phase.HandOverRefused{Node: e.To, Cause: a.j.causeOf(err, e.To)})
		}
		a.j.cfg.Log.Info("a node has not said whether it keeps a job", "job", a.id, "node", e.To, "error", err)
		return came{}
	})
}

// environment are the values of a job's variables, where this node has them.
func (j *Jobs) environment(id api.JobID) map[string]string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.values[id]
}
