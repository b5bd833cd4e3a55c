package phase

import (
	"slices"

	"fulmen/daemon/api"
)

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

// follow takes an event at a node that does not act for the job.
func (m *step) follow(e Event) {
	switch e := e.(type) {
	case Seen:
		if !Outranks(e.Job, m.Job) && (e.Job.Epoch != m.Job.Epoch || e.Job.Home != m.Job.Home) {
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
	m.open, m.handing, m.blocked, m.taken, m.preparing = false, "", false, false, false
	m.Ranks, m.Nodes, m.Cause = nil, nil, nil
	m.HomeLost, m.lostLong, m.known = false, false, true
}

// takeOver makes this node the home. Ranks that may live are ended, never handed
// over; with a person's word that the home is gone their leases count from now,
// otherwise from when one of their nodes has heard of the new epoch.
func (m *step) takeOver(person bool) {
	m.stopTimers()
	m.maxEpoch = max(m.maxEpoch, m.Job.Epoch)
	if m.Job.NextHome != "" { // which may act already, under the next epoch
		m.maxEpoch = max(m.maxEpoch, m.Job.Epoch+1)
	}
	m.maxEpoch++
	m.Role, m.handing, m.blocked = RoleHome, "", false
	m.HomeLost, m.lostLong = false, false
	m.Job.Home, m.Job.Epoch, m.Job.NextHome = m.Self, m.maxEpoch, ""
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
