package phase

import (
	"slices"
	"strings"

	"fulmen/daemon/api"
)

// Accept makes this node the home of a job that is new to it: just submitted
// (epoch 1), or handed over by the submitter's node (epoch 2). Of the document
// given it keeps spec, principal and who asked to stop.
func Accept(self api.NodeID, job api.Job, rules Rules, at api.Time) (State, []Effect) {
	m := &step{State: State{Self: self, Role: RoleHome, Rules: rules, Job: job}, at: at}
	m.Job.Home, m.Job.Epoch = self, max(job.Epoch, 1)
	m.maxEpoch = m.Job.Epoch
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
	switch p := job.Phase; {
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
		m.start(TimerLease, rules.Window())
		switch {
		case p == api.JobHandshake:
			m.start(TimerHandshake, rules.Handshake)
		case rules.Run > 0:
			m.start(TimerRun, rules.Run)
		}
		m.renew()
	default:
		// Of a start that was under way nobody knows which calls arrived.
		m.start(TimerLease, rules.Window())
		if p == api.JobStarting {
			m.fail(Failure{Cause: Cause{Reason: api.ReasonStopping}, Rank: -1})
		} else {
			m.endAll()
		}
	}
	return m.done()
}

// recall restores from the document what the state knows beside it.
func (m *step) recall() {
	ran := func(attempt int) bool {
		return slices.ContainsFunc(m.Job.Phases, func(p api.PhaseTime) bool {
			return p.Attempt == attempt && p.Phase == api.JobRunning
		})
	}
	m.counted, m.retried, m.failedRuns = 0, 0, 0
	for _, a := range m.Job.Attempts {
		if a.EndedAt.IsZero() {
			continue
		}
		m.failedRuns++
		switch {
		case a.Uncounted || a.StartedAt.IsZero():
		case ran(a.Attempt):
			m.retried++
		default:
			m.counted++
		}
	}
	a := m.attempt()
	if a == nil || !a.EndedAt.IsZero() || a.Plan == nil {
		return
	}
	m.open, m.preflight, m.holders, m.ran = true, true, nil, ran(a.Attempt)
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

// adoptEnd ends the job as its former home did.
func (m *step) adoptEnd(job api.Job) {
	m.releaseAll()
	m.stopTimers()
	for i := range m.Ranks {
		if m.Ranks[i].MayLive() {
			m.Ranks[i].Phase = api.RankLost
		}
	}
	m.open, m.taken = false, false
	m.Job.Attempt, m.Job.Attempts = job.Attempt, slices.Clone(job.Attempts)
	m.enter(api.JobHomeLost, Cause{})
	m.enter(api.JobEnding, Cause{})
	m.enter(job.Phase, Cause{Reason: job.Reason, Message: job.Message})
	m.Job.ExitCode, m.Job.EndedAt, m.Job.StopRequested = job.ExitCode, job.EndedAt, job.StopRequested
	m.do(TellTerminal{job.Phase, *job.ExitCode})
}

// sight takes in who is there.
func (m *step) sight(e Sight) {
	m.members, m.reached = slices.Clone(e.Members), slices.Clone(e.Reached)
	for _, n := range e.Reached {
		if !slices.Contains(m.told, n) {
			m.told = append(m.told, n)
		}
	}
	if m.Job.Phase.Ended() {
		return
	}
	if m.Role == RoleFollower {
		m.watchHome()
		return
	}
	if m.blocked && !m.rival() && m.Job.Phase == api.JobPlacing {
		m.place()
	}
	m.startIfReady()
}

// documentHeld counts who knows the attempt that is about to start.
func (m *step) documentHeld(e Held) {
	if !m.current(e.Attempt) || e.Epoch != m.Job.Epoch {
		return
	}
	for _, n := range e.Nodes {
		if !slices.Contains(m.holders, n) {
			m.holders = append(m.holders, n)
		}
	}
	m.startIfReady()
}

// foreign takes up what a former home did and this one did not know: a job that
// has ended has ended, and an attempt is ended before another may start.
func (m *step) foreign(job api.Job) {
	own := m.Job.Attempt > m.inherited && live(m.Job.Phase)
	if job.Epoch == 0 || job.Epoch >= m.Job.Epoch || m.handing != "" || own || job.Attempt < m.inherited {
		return
	}
	if job.Phase.Ended() && job.ExitCode != nil {
		m.adoptEnd(job)
		return
	}
	if job.Attempt == m.inherited || live(m.Job.Phase) {
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
	m.stopTimers()
	m.enter(api.JobHomeLost, Cause{Reason: api.ReasonHomeLost})
	m.endInherited(false)
}

// follow takes an event at a node that does not act for the job.
func (m *step) follow(e Event) {
	switch e := e.(type) {
	case Seen:
		if !outranks(e.Job, m.Job) && (e.Job.Epoch != m.Job.Epoch || e.Job.Home != m.Job.Home) {
			return
		}
		if e.Job.Epoch < m.maxEpoch && e.Job.Home == m.Self {
			return // this node's own, from before it stopped acting
		}
		// News of the home is a sign of life.
		if m.HomeLost && (e.Job.Home != m.Job.Home || len(e.Job.Phases) != len(m.Job.Phases)) {
			m.lostLong = false
			m.start(TimerHomeLost, m.Rules.takeOverWindow())
		}
		m.Job, m.maxEpoch = e.Job, max(m.maxEpoch, e.Job.Epoch)
		if m.Job.Phase.Ended() {
			m.stopTimers()
			m.HomeLost = false
			return
		}
		m.watchHome()
	case Stale:
		m.maxEpoch = max(m.maxEpoch, e.Epoch)
	case TimerFired:
		if e.Timer.Kind == TimerHomeLost {
			m.lostLong = true
			m.watchHome()
		}
	case TakeOver:
		if m.HomeLost || m.Job.Home == m.Self {
			m.takeOver(true)
		}
	}
}

// watchHome notices that the home is gone or back, and takes the job over where
// it has been gone for longer than any of its ranks can live unrenewed and it is
// this node's turn: the lowest in sight of more than half of the cluster.
func (m *step) watchHome() {
	if len(m.members) == 0 || m.Job.Home == m.Self {
		return // who succeeded this node is not known yet
	}
	if slices.Contains(m.reached, m.Job.Home) {
		m.HomeLost, m.lostLong, m.HomeLostSince = false, false, api.Time{}
		m.stop(TimerHomeLost)
		return
	}
	if !m.HomeLost {
		m.HomeLost, m.HomeLostSince = true, m.at
		m.start(TimerHomeLost, m.Rules.takeOverWindow())
		return
	}
	if m.lostLong && len(m.reached)*2 > len(m.members) && m.Self == slices.Min(m.reached) && m.hasWitness() {
		m.takeOver(false)
	}
}

// hasWitness reports whether a node of the open attempt is in sight, or none is open.
func (m *step) hasWitness() bool {
	a := m.attempt()
	if a == nil || a.Plan == nil || !a.EndedAt.IsZero() {
		return true
	}
	return slices.ContainsFunc(a.Plan.Ranks, func(r api.PlanRank) bool { return slices.Contains(m.reached, r.Node) })
}

// stopActing makes a follower of a home that was succeeded. What it started is
// ended by its successor, or by its leases, which nobody renews any more.
func (m *step) stopActing(epoch uint64) {
	m.stopTimers()
	m.Role, m.maxEpoch = RoleFollower, max(m.maxEpoch, epoch)
	m.open, m.handing, m.blocked, m.taken = false, "", false, false
	m.Ranks, m.Nodes, m.Cause = nil, nil, nil
	m.HomeLost, m.lostLong, m.known = false, false, true
}

// takeOver makes this node the home. Ranks that may live are ended, never handed
// over; with a person's word that the home is gone their leases count from now,
// otherwise from when one of their nodes has heard of the new epoch.
func (m *step) takeOver(person bool) {
	m.stopTimers()
	m.maxEpoch = max(m.maxEpoch, m.Job.Epoch) + 1
	m.Role, m.handing, m.blocked = RoleHome, "", false
	m.HomeLost, m.lostLong = false, false
	m.Job.Home, m.Job.Epoch = m.Self, m.maxEpoch
	m.Ranks, m.Nodes, m.Cause, m.open, m.free = nil, nil, nil, false, 0
	m.recall()
	m.enter(api.JobHomeLost, Cause{Reason: api.ReasonHomeLost})
	if m.open {
		m.endInherited(person)
		return
	}
	m.inherited = m.Job.Attempt
	m.enter(api.JobPlacing, Cause{})
	if m.Job.StopRequested != nil {
		m.end(api.JobStopped)
	} else {
		m.place()
	}
}

// endInherited ends a former home's attempt. One that was asking for grants when
// it was last heard of may have started since.
func (m *step) endInherited(person bool) {
	m.recall()
	m.inherited, m.taken = m.Job.Attempt, true
	for i := range m.Ranks {
		m.Ranks[i].Asked, m.Ranks[i].Started = true, true
	}
	a := m.attempt()
	if a.StartedAt.IsZero() {
		a.StartedAt = m.at
	}
	if m.Cause == nil {
		m.Cause = &Failure{Cause: Cause{Reason: api.ReasonHomeLost}, Rank: -1}
		a.Reason = api.ReasonHomeLost
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

// witnessed is when nobody can renew the former home's ranks any more.
func (m *step) witnessed() {
	if m.taken && m.Job.Phase == api.JobEnding {
		m.taken = false
		m.start(TimerLease, m.Rules.takeOverWindow())
	}
}
