package phase

import (
	"cmp"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// place looks for nodes, unless a majority elsewhere may have taken the job over.
func (m *step) place() {
	if m.Job.Phase != api.JobPlacing {
		m.enter(api.JobPlacing, Cause{})
	}
	if m.Rules.Placing > 0 && !m.runs(TimerPlacing) {
		m.start(TimerPlacing, m.Rules.Placing)
	}
	m.blocked = m.rival()
	if m.blocked {
		m.enter(api.JobPlacing, Cause{Reason: api.ReasonNoMajority, WaitingFor: "more than half of the cluster"})
		return
	}
	m.do(AskPlan{})
}

// Waits reports whether a plan is wanted.
func (m *State) Waits() bool {
	return m.Role == RoleHome && (m.Job.Phase == api.JobQueued || m.Job.Phase == api.JobPlacing) && !m.open && m.handing == "" && !m.blocked
}

func (m *step) unplaceable(why Cause) {
	if !m.Waits() {
		return
	}
	if why.Final {
		m.fail(Failure{Cause: why, Rank: -1})
		return
	}
	if m.Job.Phase == api.JobQueued {
		m.enter(api.JobPlacing, why)
		if m.Rules.Placing > 0 {
			m.start(TimerPlacing, m.Rules.Placing)
		}
	} else if m.Job.Reason != why.Reason || m.Job.Message != why.Message || m.Job.WaitingFor != why.WaitingFor {
		m.enter(api.JobPlacing, why)
	}
}

// planned begins an attempt, or hands the job to the node of rank 0 where this
// is the first plan and that node is another.
func (m *step) planned(plan api.Plan) {
	if !m.Waits() || len(plan.Ranks) == 0 {
		return
	}
	if m.Job.Phase == api.JobQueued {
		m.enter(api.JobPlacing, Cause{})
		if m.Rules.Placing > 0 {
			m.start(TimerPlacing, m.Rules.Placing)
		}
	}
	if m.rival() {
		m.place()
		return
	}
	if first := plan.Ranks[0].Node; HandsOver(m.Job, m.Self, first) {
		m.handing, m.Job.NextHome = first, first
		m.maxEpoch = max(m.maxEpoch, m.Job.Epoch+1)
		m.enter(api.JobPlacing, Cause{WaitingFor: "node " + m.Rules.name(first) + " to keep the job"})
		m.sendHandOver()
		return
	}
	m.beginAttempt(plan)
}

func (m *step) sendHandOver() {
	if m.handing != "" {
		m.do(HandOver{m.handing, m.Job, m.Rules.offer(m.Job, m.handing, m.Job.Epoch+1)})
		m.start(TimerHandOver, m.Rules.Renewal)
	}
}

// HandsOver reports whether a home gives a job, which has only been planned, to the
// node of rank 0: the first home does, once.
func HandsOver(job api.Job, self, first api.NodeID) bool {
	elsewhere := func(s api.Succession) bool { return s.Home != self }
	return job.Attempt == 0 && first != self && job.Principal.Node == self && !slices.ContainsFunc(job.Homes, elsewhere)
}

// raise goes on at this home under a higher epoch, so that nothing counts any more that
// it offered before. Steps of a home to itself are one.
func (m *step) raise(epoch uint64) {
	for n := len(m.Job.Homes); n > 0; n-- {
		before := api.Succession{Home: m.Job.Principal.Node, Epoch: 1} // the first home
		if n > 1 {
			before = m.Job.Homes[n-2]
		}
		if m.Job.Homes[n-1].Home != m.Self || before.Home != m.Self {
			break
		}
		m.Job.Homes, m.Job.Epoch = m.Job.Homes[:n-1:n-1], before.Epoch
	}
	m.Job.Succeed(m.Rules.offer(m.Job, m.Self, epoch))
}

func (m *step) handOverRefused(e HandOverRefused) {
	if m.handing == "" || e.Node != m.handing {
		return
	}
	m.handing, m.Job.NextHome = "", ""
	m.stop(TimerHandOver)
	m.raise(m.Job.Epoch + 2) // above the offer, which counts no more
	if m.Job.StopRequested != nil {
		m.end(api.JobStopped)
		return
	}
	if e.Cause.Final {
		m.fail(Failure{Cause: e.Cause, Rank: -1})
		return
	}
	m.failedRuns++
	m.wait(e.Cause)
}

// beginAttempt asks for all grants and checks all nodes at once. Nothing of it
// starts before the document says that it exists.
func (m *step) beginAttempt(plan api.Plan) {
	// A number is not used again by the same home, even if the attempt was given up
	// for a former home's of a lower one: answers about it may be under way.
	m.begun = max(m.begun, m.Job.Attempt) + 1
	m.Job.Attempt = m.begun
	m.Job.Attempts = append(m.Job.Attempts, api.Attempt{Attempt: m.Job.Attempt, Plan: &plan})
	if n := len(m.Job.Attempts) - maxPlansKept; n > 0 {
		m.Job.Attempts[n-1].Plan = nil
	}
	m.Job.Attempts = slices.Delete(m.Job.Attempts, 0, max(len(m.Job.Attempts)-maxAttemptsKept, 0))
	m.open, m.preflight, m.inLine, m.holders, m.ran, m.Cause = true, false, false, nil, false, nil
	m.setPlan(plan)
	m.enter(api.JobPlacing, Cause{})
	for i := range m.Ranks {
		m.ask(i, 0)
	}
	m.do(Preflight{m.Job.Attempt, plan})
	m.start(TimerRenew, m.Rules.Renewal)
}

// setPlan takes ranks and nodes from a plan.
func (m *step) setPlan(plan api.Plan) {
	m.Ranks, m.Nodes = nil, nil
	for _, r := range plan.Ranks {
		m.Ranks = append(m.Ranks, Rank{Node: r.Node})
		if m.node(r.Node) == nil {
			m.Nodes = append(m.Nodes, Node{ID: r.Node})
		}
	}
}

// preflightFailed gives an attempt up before anything of it was started. Where another
// plan may do, it is looked for at once.
func (m *step) preflightFailed(e PreflightFailed) {
	if !e.Replan || m.Job.StopRequested != nil {
		m.fail(Failure{Cause: e.Cause, Rank: -1})
		return
	}
	a := m.attempt()
	a.Reason, a.Message, a.Uncounted, a.Replanned = e.Cause.Reason, e.Cause.Message, true, true
	m.stop(TimerRenew)
	m.closeAttempt()
	m.enter(api.JobPlacing, Cause{})
	m.place()
}

func (m *step) ask(rank int, wait time.Duration) {
	m.Ranks[rank].Asked = true
	m.do(AskGrant{m.Job.Attempt, m.Job.Epoch, m.attempt().Plan.Ranks[rank], wait})
}

func (m *step) granted(e Granted) {
	r := m.rank(e.Attempt, e.Rank)
	switch {
	case r == nil || r.Node != e.Node || r.Granted:
	case m.Job.Phase != api.JobPlacing || !r.Asked:
		m.do(Release{e.Attempt, m.Job.Epoch, e.Rank, e.Node})
	default:
		r.Granted, r.busy, r.Phase = true, false, api.RankGranted
		m.nextGrant()
		m.startIfReady()
	}
}

// noted reports whether a person was told of something about the attempt's plan.
func (m *step) noted(reason api.Reason) bool {
	a := m.attempt()
	return a != nil && a.Plan != nil && slices.ContainsFunc(a.Plan.Notes, func(n api.Cause) bool { return n.Reason == reason })
}

// note adds to what a person should know of the attempt's plan.
func (m *step) note(e Noted) {
	a := m.attempt()
	if !m.open || e.Attempt != m.Job.Attempt || a.Plan == nil || slices.Contains(a.Plan.Notes, e.Note) {
		return
	}
	plan := *a.Plan // readers have the former
	plan.Notes = append(slices.Clone(plan.Notes), e.Note)
	a.Plan, m.dirty = &plan, true
}

func (m *step) refused(e GrantRefused) {
	r := m.rank(e.Attempt, e.Rank)
	if r == nil || m.Job.Phase != api.JobPlacing || !r.Asked || r.Granted {
		return
	}
	if !e.Busy {
		r.Asked = false
		m.fail(Failure{Cause: e.Cause, Rank: -1})
		return
	}
	r.busy = true
	m.enter(api.JobPlacing, e.Cause)
	m.nextGrant()
}

// nextGrant stands in line where the first requests did not all succeed: for one
// grant after the other, in the order of nodes, so that no two jobs ever hold
// what the other waits for.
func (m *step) nextGrant() {
	if !m.inLine {
		busy := false
		for _, r := range m.Ranks {
			if !r.Granted && !r.busy {
				return
			}
			busy = busy || r.busy
		}
		if !busy {
			return
		}
		m.inLine = true
		m.releaseAll()
		for i := range m.Ranks {
			m.Ranks[i] = Rank{Node: m.Ranks[i].Node}
		}
	}
	order := make([]int, len(m.Ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Ranks[a].Node, m.Ranks[b].Node) })
	for _, i := range order {
		if r := &m.Ranks[i]; !r.Granted {
			if !r.Asked || r.busy {
				m.ask(i, m.Rules.GrantWait)
			}
			return
		}
	}
}

// askAgain asks again for what was granted: nobody has renewed it in time.
func (m *step) askAgain() {
	m.inLine = false
	for i := range m.Ranks {
		m.Ranks[i] = Rank{Node: m.Ranks[i].Node}
		m.ask(i, 0)
	}
}

// releaseAll gives back what was granted, and leaves the lines.
func (m *step) releaseAll() {
	for i := range m.Ranks {
		if r := &m.Ranks[i]; r.Asked {
			r.Asked = false
			m.do(Release{m.Job.Attempt, m.Job.Epoch, i, r.Node})
		}
	}
}

// sayUncleared says for what an attempt waits that has all but enough members who
// know of it. That takes a round trip, so it is not said at once.
func (m *step) sayUncleared() {
	if m.Job.Phase == api.JobPlacing && m.preflight && !m.cleared() && m.Job.Reason != api.ReasonNoMajority &&
		!slices.ContainsFunc(m.Ranks, func(r Rank) bool { return !r.Granted }) {
		m.enter(api.JobPlacing, Cause{Reason: api.ReasonNoMajority, WaitingFor: "half of the cluster to know of the attempt"})
	}
}

// startIfReady starts the ranks once everything is granted and checked.
func (m *step) startIfReady() {
	if m.Job.Phase != api.JobPlacing || !m.open || !m.preflight {
		return
	}
	for _, r := range m.Ranks {
		if !r.Granted {
			return
		}
	}
	if !m.cleared() {
		if m.rival() { // those who must know are out of sight: others may have the resources
			m.fail(Failure{Cause: Cause{Reason: api.ReasonNoMajority}, Rank: -1})
		}
		return
	}
	m.attempt().StartedAt = m.at
	m.enter(api.JobStarting, Cause{})
	if m.Rules.Prepares {
		m.prepare(m.Rules.Preparing)
	} else {
		m.start(TimerStarting, m.Rules.Starting)
	}
	m.start(TimerLease, m.Rules.Window())
	for i := range m.Ranks {
		r := &m.Ranks[i]
		r.Started = true
		m.do(StartRank{m.Job.Attempt, m.Job.Epoch, i, r.Node, m.Rules.Lease, m.preparing && len(m.Ranks) > 1})
	}
	m.start(TimerRenew, m.Rules.Renewal)
}
