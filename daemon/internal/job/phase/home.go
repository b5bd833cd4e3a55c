package phase

import (
	"slices"
	"time"

	"fulmen/daemon/api"
)

// Accept makes this node the home of a job that is new to it: just submitted
// (epoch 1), or handed over by the submitter's node (epoch 2). Of the document
// given it keeps spec, principal and who asked to stop.
func Accept(self api.NodeID, job api.Job, rules Rules, at api.Time) (State, []Effect) {
	m := &step{State: State{Self: self, Role: RoleHome, Rules: rules, Job: job}, at: at}
	m.Job.Home, m.Job.Epoch, m.Job.NextHome = self, max(job.Epoch, 1), ""
	m.known = m.Job.Epoch > 1 // the home before may have told anybody
	switch {
	case job.Phase == "" || job.Phase == api.JobQueued:
		m.enter(api.JobQueued, Cause{})
		if m.Job.StopRequested == nil {
			m.do(AskPlan{})
		}
	case m.Job.StopRequested == nil:
		m.enter(api.JobPlacing, Cause{})
		m.place()
	}
	if m.Job.StopRequested != nil {
		m.end(api.JobStopped)
	}
	return m.done()
}

// Follow makes a follower of a job by the document of its home.
func Follow(self api.NodeID, job api.Job, rules Rules) State {
	return State{Self: self, Role: RoleFollower, Rules: rules, Job: job, maxEpoch: job.Epoch, known: true}
}

// Resume goes on at the home after the daemon was started again, from the
// document that it wrote last. Ranks run on under their supervisors meanwhile;
// the caller then tells how each of the current attempt is, by RankAt and
// RankEnded, and who is in sight.
func Resume(self api.NodeID, job api.Job, rules Rules, at api.Time) (State, []Effect) {
	m := &step{State: State{Self: self, Role: RoleHome, Rules: rules, Job: job, maxEpoch: job.Epoch, known: true}.clone(), at: at}
	if job.Phase.Ended() {
		return m.done()
	}
	m.recall()
	m.restarted()
	switch p := job.Phase; {
	case job.NextHome != "":
		m.handing = job.NextHome
		m.maxEpoch = max(m.maxEpoch, m.Job.Epoch+1)
		m.sendHandOver()
	case p == api.JobQueued:
		m.do(AskPlan{})
	case p == api.JobPlacing || p == api.JobHomeLost:
		if m.open {
			m.giveBackUnstarted()
		}
		if m.Job.StopRequested != nil {
			m.end(api.JobStopped)
		} else {
			m.place()
		}
	case p == api.JobBackoff:
		m.start(TimerBackoff, rules.backoff(m.failedRuns))
	case p == api.JobHandshake || p == api.JobRunning:
		switch {
		case p == api.JobHandshake:
			m.start(TimerHandshake, rules.Handshake)
		case rules.Run > 0:
			m.start(TimerRun, rules.Run-m.ranFor())
		}
		m.hear()
		m.renew()
	case p == api.JobStarting && rules.Prepares && m.open:
		// Programs are started once all nodes say that they are prepared; one that was
		// not asked to, before the daemon ended, does not list its rank when it is renewed.
		for i := range m.Ranks {
			m.Ranks[i].Phase = api.RankGranted
		}
		m.prepare(rules.Preparing - min(max(at.Sub(job.PhaseSince.Time), 0), rules.Preparing))
		m.renew()
	default:
		// Of a start that was under way nobody knows which calls arrived.
		m.start(TimerLease, rules.Window())
		if p == api.JobStarting {
			m.fail(Failure{Rank: -1, Cause: Cause{Reason: api.ReasonHomeRestarted,
				Message: "The daemon of " + rules.name(self) + ", which keeps the job, ended and was started again while it started the ranks."}})
		} else {
			m.endAll()
		}
	}
	return m.done()
}

// TakeBack is [Resume] at a home that has lost what it knew, from its document that
// another node has kept, which may be old, or brought again by somebody who wants the
// program to run twice. So nothing is started any more: what runs goes on, and what has
// ended by itself counts.
func TakeBack(self api.NodeID, job api.Job, rules Rules, at api.Time) (State, []Effect) {
	var s State
	var out []Effect
	if TakesUp(job) {
		s, out = Resume(self, job, rules, at)
		s.forgot = true
		return s, out
	}
	m := &step{State: State{Self: self, Role: RoleHome, Rules: rules, Job: job, maxEpoch: job.Epoch, known: true, forgot: true}.clone(), at: at}
	m.recall()
	m.Job.NextHome = "" // a node that has taken it is known by a higher epoch
	if live(job.Phase) {
		m.start(TimerLease, rules.Window())
	}
	m.fail(Failure{Rank: -1, Cause: m.hasForgotten("before the program ran on all of its Macs.")})
	return m.done()
}

// TakesUp reports whether [TakeBack] goes on with a job, rather than ending it.
func TakesUp(job api.Job) bool {
	return slices.Contains([]api.JobPhase{api.JobHandshake, api.JobRunning, api.JobEnding}, job.Phase)
}

// whileItRan is when a home lost its database whose job was running.
const whileItRan = "while the job ran, so that nobody renewed the leases of its ranks."

// hasForgotten is that the home has lost what it knew.
func (m *step) hasForgotten(when string) Cause {
	return Cause{Final: true, Reason: api.ReasonHomeForgot, Message: m.Rules.name(m.Self) + ", which keeps the job, lost its database " + when}
}

// ranFor is how long the job has run, in all its attempts, as its document tells: no other
// clock goes on while the daemon is away. It is never negative, nor more than the time
// that it has.
func (m *step) ranFor() time.Duration {
	var all time.Duration
	for i, p := range m.Job.Phases {
		until := m.at
		if i+1 < len(m.Job.Phases) {
			until = m.Job.Phases[i+1].At
		}
		if p.Phase == api.JobRunning {
			all += max(until.Sub(p.At.Time), 0)
		}
	}
	return min(all, m.Rules.Run)
}

// recall restores from the document what the state knows beside it.
func (m *step) recall() {
	m.failedRuns = 0
	for _, p := range m.Job.Phases { // also of attempts that were given up for a former home's
		m.begun = max(m.begun, p.Attempt)
	}
	for _, a := range m.Job.Attempts {
		if !a.EndedAt.IsZero() {
			m.failedRuns++
		}
	}
	a := m.attempt()
	if a == nil || !a.EndedAt.IsZero() || a.Plan == nil {
		return
	}
	m.open, m.holders, m.ran = true, nil, m.hasRun(a.Attempt)
	m.setPlan(*a.Plan)
	started := live(m.Job.Phase) || !a.StartedAt.IsZero()
	for i := range m.Ranks {
		r := &m.Ranks[i]
		r.Asked = true
		if started {
			r.Granted, r.Started, r.Phase = true, true, api.RankStarting
		}
	}
	if a.Reason != "" && m.Job.Phase == api.JobEnding {
		f := Failure{Cause: Cause{Reason: a.Reason, Message: a.Message}, Rank: -1}
		if a.FirstFailed != nil {
			f.Rank = *a.FirstFailed
		}
		if a.ExitCode != nil {
			f.Exit = &api.Exit{Code: a.ExitCode}
		}
		m.Cause = &f
	}
}

// giveBackUnstarted closes an attempt that has asked for grants at most.
func (m *step) giveBackUnstarted() {
	m.attempt().Uncounted = true
	m.closeAttempt()
}
