package phase

import (
	"slices"

	"fulmen/daemon/api"
)

// presence takes in which nodes are there.
func (m *step) presence(e Presence) {
	m.members, m.reached = slices.Clone(e.Members), slices.Clone(e.Reached)
	for _, n := range e.Reached {
		if !slices.Contains(m.reported, n) {
			m.reported = append(m.reported, n)
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

// home counts who knows the attempt that is about to start.
func (e Held) home(m *step) {
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

// follow takes an event at a node that does not act for the job.
func (m *step) follow(e Event) {
	switch e := e.(type) {
	case Seen:
		if !e.Job.Outranks(m.Job) && (e.Job.Epoch != m.Job.Epoch || e.Job.Home != m.Job.Home) {
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
			return
		}
		m.watchHome()
	case TimerFired:
		switch e.Timer.Kind {
		case TimerHomeLost:
			m.lostLong = true
			m.watchHome()
		case TimerVotes:
			m.voting = false
			m.watchHome()
		}
	case Voted:
		if m.HomeLost && m.lostLong && e.Before == m.Job.Epoch && e.Epoch >= m.nextEpoch() {
			m.takeOver(api.Succession{Epoch: e.Epoch, Home: m.Self, Votes: e.Votes})
		}
	case VoteRefused:
		m.maxEpoch = max(m.maxEpoch, e.Epoch)
	case TakeOver:
		if m.HomeLost || m.Job.Home == m.Self {
			m.takeOver(m.Rules.Steps.Act(m.Job, e.By, m.Self, m.nextEpoch()))
		}
	}
}

// watchHome notices that the home is gone or back, and takes the job over where
// it has been gone for longer than any of its ranks can live unrenewed, it is this
// node's turn, the lowest in sight of more than half of the cluster, and more than half
// of the voters vote for it.
func (m *step) watchHome() {
	if len(m.members) == 0 || m.Job.Home == m.Self {
		return // who succeeded this node is not known yet
	}
	if slices.Contains(m.reached, m.Job.Home) {
		m.HomeLost, m.lostLong, m.HomeLostSince, m.voting = false, false, api.Time{}, false
		m.stop(TimerHomeLost, TimerVotes)
		return
	}
	if !m.HomeLost {
		m.HomeLost, m.HomeLostSince = true, m.at
		m.start(TimerHomeLost, m.Rules.takeOverWindow())
		return
	}
	if !m.voting && m.lostLong && len(m.reached)*2 > len(m.members) && m.Self == slices.Min(m.reached) && m.hasWitness() {
		m.voting = true
		m.do(AskVotes{m.Job, m.nextEpoch()})
		m.start(TimerVotes, m.Rules.Renewal)
	}
}

// nextEpoch is the epoch of this node if it takes the job over: above all that was heard
// of and above an offer that may have been accepted. Whoever is not the home begins a term.
func (m *step) nextEpoch() uint64 {
	known := max(m.maxEpoch, m.Job.Epoch)
	if m.Job.NextHome != "" {
		known = max(known, m.Job.Epoch+1)
	}
	if m.Job.Home == m.Self {
		return known + 1
	}
	return api.NextTerm(known)
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
	m.open, m.handing, m.blocked, m.taken, m.preparing = false, "", false, false, false
	m.Ranks, m.Nodes, m.Cause = nil, nil, nil
	m.HomeLost, m.lostLong, m.voting, m.known = false, false, false, true
}

// takeOver makes this node the home by a step. Ranks that may live are ended, never
// handed over; with a person's word that the home is gone their leases count from now,
// otherwise from when one of their nodes has heard of the new epoch.
func (m *step) takeOver(by api.Succession) {
	person, former := by.Votes == nil, m.Job.Home
	m.stopTimers()
	m.Role, m.handing = RoleHome, ""
	m.HomeLost, m.lostLong, m.voting = false, false, false
	m.Job.NextHome = ""
	if m.Job.Home == m.Self && by.Epoch < api.NextTerm(m.Job.Epoch) {
		m.raise(by.Epoch)
	} else {
		m.Job.Succeed(by)
	}
	m.Ranks, m.Nodes, m.Cause, m.open, m.isOver = nil, nil, nil, false, false
	m.recall()
	m.enter(api.JobHomeLost, Cause{Reason: api.ReasonHomeLost})
	if m.open {
		m.endInherited(former, person)
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
