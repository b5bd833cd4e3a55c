package phase

import (
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// foreign takes up what a former home did and this one did not know: a job that
// has ended has ended, and an attempt is ended before another may start.
func (m *step) foreign(job api.Job) {
	own := m.Job.Attempt > m.inherited && MayLive(m.Job.Phase)
	if job.Epoch == 0 || job.Epoch >= m.Job.Epoch || m.handing != "" || own || job.Attempt < m.inherited {
		return
	}
	if job.Phase.Ended() && job.ExitCode != nil {
		m.adoptEnd(job)
		return
	}
	if job.Attempt == m.inherited || MayLive(m.Job.Phase) {
		return
	}
	i := slices.IndexFunc(job.Attempts, func(a api.Attempt) bool { return a.Attempt == job.Attempt })
	if i < 0 || job.Attempts[i].Plan == nil || !job.Attempts[i].EndedAt.IsZero() {
		return
	}
	if m.open {
		m.giveBackUnstarted()
	}
	m.Job.Attempts = append(slices.DeleteFunc(m.Job.Attempts, func(a api.Attempt) bool { return a.Attempt >= job.Attempt }), job.Attempts[i])
	m.Job.Attempt = job.Attempt
	m.Job.CountedAttempts, m.Job.Retried = max(m.Job.CountedAttempts, job.CountedAttempts), max(m.Job.Retried, job.Retried)
	m.stopTimers()
	m.enter(api.JobHomeLost, Cause{Reason: api.ReasonHomeLost})
	m.endInherited(job.Home, false)
}

// adoptEnd ends the job as its former home did.
func (m *step) adoptEnd(job api.Job) {
	m.releaseAll()
	m.stopTimers()
	for i := range m.Ranks {
		if m.Ranks[i].MayLive() {
			m.Ranks[i].Phase = api.RankLost
		}
	}
	m.open, m.taken, m.preparing = false, false, false
	m.Job.Attempt, m.Job.Attempts = job.Attempt, slices.Clone(job.Attempts)
	m.enter(api.JobHomeLost, Cause{})
	m.enter(api.JobEnding, Cause{})
	m.enter(job.Phase, Cause{Reason: job.Reason, Message: job.Message})
	m.Job.ExitCode, m.Job.EndedAt, m.Job.StopRequested = job.ExitCode, job.EndedAt, job.StopRequested
	m.do(NotifyTerminal{job.Phase, *job.ExitCode})
}

// endInherited ends a former home's attempt. One that was asking for grants when
// it was last heard of may have started since.
func (m *step) endInherited(home api.NodeID, person bool) {
	m.recall()
	m.inherited, m.taken = m.Job.Attempt, true
	for i := range m.Ranks {
		m.Ranks[i].Started = true
	}
	a := m.attempt()
	if a.StartedAt.IsZero() {
		a.StartedAt = m.at
	}
	if m.Cause == nil {
		why := m.Rules.name(m.Self) + " took the job over, as a person asked for, and ended its ranks."
		if home != m.Self {
			why = m.Rules.name(home) + ", which kept the job, could not be reached, so " + m.Rules.name(m.Self) + " took it over and ended its ranks."
		}
		m.Cause = &Failure{Cause: Cause{Reason: api.ReasonHomeLost, Message: why}, Rank: -1}
		a.Reason, a.Message = api.ReasonHomeLost, why
	}
	var on []string
	for _, n := range m.Nodes {
		on = append(on, string(n.ID))
	}
	m.enter(api.JobEnding, Cause{Reason: api.ReasonWaitingForRanks, WaitingFor: "the end of ranks on " + strings.Join(on, ", ")})
	m.endAll()
	if person {
		m.witnessed()
	}
}

func (e EndAccepted) home(m *step) {
	if m.current(e.Attempt) && m.node(e.Node) != nil {
		m.witnessed()
	}
}

// witnessed is when nobody can renew the former home's ranks any more.
func (m *step) witnessed() {
	if m.taken && m.Job.Phase == api.JobEnding {
		m.taken = false
		m.start(TimerLease, m.Rules.takeOverWindow())
	}
}
