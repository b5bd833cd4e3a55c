package phase

import (
	"slices"
	"time"

	"fulmen/daemon/api"
)

// fail ends what is going on for a cause. The first cause is kept.
func (m *step) fail(f Failure) {
	if m.Cause == nil {
		m.Cause, m.causeReported = &f, m.at
		if a := m.attempt(); a != nil && m.open {
			a.Reason, a.Message = f.Reason, f.Message
			if f.Rank >= 0 {
				a.FirstFailed = &f.Rank
			}
			if f.Exit != nil {
				code := f.Exit.Status()
				a.ExitCode = &code
			}
			m.dirty = true
		}
	}
	switch {
	case !MayLive(m.Job.Phase):
		m.giveUp()
	case m.Job.Phase != api.JobEnding:
		m.ending()
	}
}

// whileItLives are the timers of an attempt that is not being ended.
var whileItLives = []TimerKind{TimerPreparing, TimerStarting, TimerHandshake, TimerRun, TimerSilence, TimerRenew}

// ending ends all ranks and waits until each is known to have ended.
func (m *step) ending() {
	m.stop(whileItLives...)
	m.preparing, m.stall = false, Cause{}
	why := Cause{}
	if m.Cause != nil {
		why = m.Cause.Cause
	} else if m.Job.StopRequested != nil {
		why.Reason = m.stopReason()
	}
	m.enter(api.JobEnding, why)
	m.endAll()
	m.finishIfEnded()
}

// endAll orders every rank that may live to end, and does so again later.
func (m *step) endAll() {
	if !m.open || m.Job.Phase != api.JobEnding {
		return
	}
	for _, n := range m.Nodes {
		m.endOn(n.ID)
	}
	m.start(TimerEnd, m.Rules.Renewal)
}

// endOn orders a node's ranks to end. While no node of an attempt that was taken
// over has heard of the new epoch, those whose ranks have ended are told as well.
func (m *step) endOn(id api.NodeID) {
	for _, r := range m.Ranks {
		if r.Node == id && (r.MayLive() || m.taken) {
			why := m.endCause()
			m.do(EndRanks{m.Job.Attempt, m.Job.Epoch, id, why.Reason, why.Message, m.grace()})
			return
		}
	}
}

func (m *step) grace() time.Duration {
	switch stop := m.Job.StopRequested; {
	case stop == nil && m.Cause != nil && m.Cause.Reason == api.ReasonPreempted && m.Cause.Rank < 0:
		return m.Rules.Grace
	case stop == nil:
		return m.Rules.FailedGrace
	case stop.Kill:
		return 0
	}
	return m.Rules.Grace
}

// endCause is what the ranks are told that did not bring it about. They keep it, and tell a
// home that has lost its database.
func (m *step) endCause() Cause {
	switch {
	case m.Cause == nil && m.Job.StopRequested != nil:
		return Cause{Reason: m.stopReason()}
	case m.Cause != nil && m.Cause.Exit != nil:
		return Cause{Reason: api.ReasonPeerRankFailed}
	case m.Cause != nil:
		return m.Cause.Cause
	}
	return Cause{Reason: api.ReasonTakenOver}
}

// finishIfEnded closes the attempt once no rank of it can live.
func (m *step) finishIfEnded() {
	if !m.open || !MayLive(m.Job.Phase) || m.Live() {
		return
	}
	if m.Job.Phase != api.JobEnding {
		m.enter(api.JobEnding, Cause{}) // all went well: its end stops what runs
	}
	m.stop(TimerLease, TimerEnd)
	if isDeadline := m.Cause != nil && m.Cause.deadline; !isDeadline && !slices.ContainsFunc(m.Ranks, func(r Rank) bool { return !r.well }) {
		m.allWell()
	}
	if m.Cause == nil && m.Rules.Kept && m.Job.StopRequested == nil {
		m.stop(whileItLives...)
		m.fail(Failure{Cause: Cause{Reason: api.ReasonProgramEnded}, Rank: -1})
	}
	failure := m.Cause
	m.closeAttempt()
	switch {
	case m.Job.StopRequested != nil:
		m.end(api.JobStopped)
	case failure == nil:
		m.end(api.JobSucceeded)
	default:
		m.retry(*failure)
	}
}

// allWell is when all programs ended by themselves, and well, before they were told to
// end: what was held against one of their Macs meanwhile was not so.
func (m *step) allWell() {
	m.Cause = nil
	if a := m.attempt(); a != nil {
		a.Reason, a.Message, a.FirstFailed, a.ExitCode = "", "", nil, nil
	}
}

// giveUp ends an attempt of which nothing was started, or none at all.
func (m *step) giveUp() {
	failure := m.Cause
	m.stop(TimerRenew)
	if m.open {
		m.attempt().Uncounted = true
		m.closeAttempt()
	}
	switch {
	case m.Job.StopRequested != nil:
		m.end(api.JobStopped)
	case failure.Final:
		m.end(api.JobFailed)
	default:
		m.failedRuns++
		m.wait(failure.Cause)
	}
}

// closeAttempt gives everything back. The attempt's cause stays in Cause until
// the job has ended or goes on.
func (m *step) closeAttempt() {
	m.releaseAll()
	a := m.attempt()
	if a.EndedAt = m.at; a.Reason == "" && m.Job.StopRequested != nil {
		a.Reason = m.stopReason()
	}
	m.open, m.taken, m.preparing = false, false, false
	m.dirty = true
}

// end is a job's last step.
func (m *step) end(p api.JobPhase) {
	m.stopTimers()
	why, code := Cause{}, api.ExitOK
	switch {
	case p == api.JobStopped:
		why.Reason, code = m.stopReason(), m.stoppedStatus()
	case m.Cause != nil:
		why, code = m.Cause.Cause, api.RunStatus(m.Cause.Reason)
		if m.Cause.Exit != nil {
			if code = m.Cause.Exit.Status(); code == 0 {
				code = api.ExitNotStarted
			}
		}
	}
	m.enter(p, why)
	m.Job.WaitingFor = ""
	m.Job.ExitCode, m.Job.EndedAt = &code, m.at
	m.do(NotifyTerminal{p, code})
}

// stopReason is why a person's request, or what stands for one, ends the job.
func (m *step) stopReason() api.Reason {
	if stop := m.Job.StopRequested; stop != nil && stop.Reason != "" {
		return stop.Reason
	}
	return api.ReasonStoppedByPerson
}

// stoppedStatus is the status of a job that was stopped: of the first cause
// before the request, else of the lowest rank that did not end well, else of all.
func (m *step) stoppedStatus() int {
	if m.Cause != nil && m.Cause.Exit != nil {
		return m.Cause.Exit.Status()
	}
	code, ended := api.ExitOK, false
	for _, r := range m.Ranks {
		if r.Exit != nil && r.Started {
			ended = true
			if s := r.Exit.Status(); s != 0 {
				return s
			}
		}
	}
	if !ended {
		code = api.ExitNotStarted
	}
	return code
}

// home ends the job for a person. A second request can only be harder.
func (e StopAsked) home(m *step) {
	if was := m.Job.StopRequested; was == nil {
		m.Job.StopRequested = &api.StopRequest{By: e.By, At: m.at, Kill: e.Kill, Reason: e.Reason}
	} else if e.Kill && !was.Kill {
		harder := *was
		harder.Kill = true
		m.Job.StopRequested = &harder
	} else {
		return
	}
	m.dirty = true
	switch p := m.Job.Phase; {
	case m.handing != "":
		// Whether the other node keeps the job is not known: it ends there, or here when it says no.
	case p == api.JobEnding:
		m.endAll()
	case MayLive(p):
		m.ending()
	default:
		if m.open {
			m.attempt().Uncounted = true
			m.closeAttempt()
		}
		m.end(api.JobStopped)
	}
}
