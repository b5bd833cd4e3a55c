package phase

import (
	"cmp"
	"reflect"
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
		m.receive()
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
				Message: "The daemon of " + rules.name(self) + ", which keeps the job, was restarted while it started the ranks."}})
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
	if MayLive(job.Phase) {
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
const whileItRan = "while the job ran, so nobody renewed the leases of its ranks."

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
	started := MayLive(m.Job.Phase) || !a.StartedAt.IsZero()
	for i := range m.Ranks {
		r := &m.Ranks[i]
		r.Asked = m.leads(i)
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

func (e Unplaceable) home(m *step) {
	why := e.Cause
	if !m.Waits() {
		return
	}
	if why.Final {
		m.fail(Failure{Cause: why, Rank: -1})
		return
	}
	if !reflect.DeepEqual(m.Job.Wanted, e.Wanted) {
		m.Job.Wanted, m.dirty = e.Wanted, true
	}
	isChanged := m.Job.Reason != why.Reason || m.Job.Message != why.Message || m.Job.WaitingFor != why.WaitingFor
	switch isQueued := m.Job.Phase == api.JobQueued; {
	case isQueued && !e.Early:
		m.enter(api.JobPlacing, why)
		if m.Rules.Placing > 0 {
			m.start(TimerPlacing, m.Rules.Placing)
		}
	case isChanged:
		m.enter(m.Job.Phase, why)
	}
}

// home ends the ranks for another job; what does not run waits anyway.
func (e Preempted) home(m *step) {
	if m.open && m.Job.Phase != api.JobEnding && MayLive(m.Job.Phase) {
		m.fail(Failure{Cause: e.Cause, Rank: -1})
	}
}

// home begins an attempt, or hands the job to the node of rank 0 where this
// is the first plan and that node is another.
func (e Planned) home(m *step) {
	plan := e.Plan
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
		m.do(HandOver{m.handing, m.Job, m.Rules.Steps.Offer(m.Job, m.handing, m.Job.Epoch+1)})
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
	m.Job.Succeed(m.Rules.Steps.Offer(m.Job, m.Self, epoch))
}

func (e HandOverRefused) home(m *step) {
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
	m.Job.Wanted = new(api.WantedOf(plan))
	m.enter(api.JobPlacing, Cause{})
	for i := range m.Ranks {
		if m.leads(i) {
			m.ask(i, 0)
		}
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

func (e Preflighted) home(m *step) {
	if m.current(e.Attempt) && m.Job.Phase == api.JobPlacing {
		m.preflight = true
		for _, note := range e.Notes {
			Noted{e.Attempt, note}.home(m)
		}
		m.startIfReady()
	}
}

// home gives an attempt up before anything of it was started. Where another plan may do,
// it is looked for at once.
func (e PreflightFailed) home(m *step) {
	if !m.current(e.Attempt) || m.Job.Phase != api.JobPlacing {
		return
	}
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

// leads reports whether a rank is the first on its node: it is granted what all ranks there
// need.
func (m *step) leads(rank int) bool {
	return slices.IndexFunc(m.Ranks, func(r Rank) bool { return r.Node == m.Ranks[rank].Node }) == rank
}

// ask asks for the grant of a rank that leads.
func (m *step) ask(rank int, wait time.Duration) {
	m.Ranks[rank].Asked = true
	m.do(AskGrant{m.Job.Attempt, m.Job.Epoch, m.attempt().Plan.Grant(rank), wait})
}

// eachOn changes the ranks on a node.
func (m *step) eachOn(node api.NodeID, change func(*Rank)) {
	for i := range m.Ranks {
		if m.Ranks[i].Node == node {
			change(&m.Ranks[i])
		}
	}
}

func (e Granted) home(m *step) {
	r := m.rank(e.Attempt, e.Rank)
	switch {
	case r == nil || r.Node != e.Node || r.Granted:
	case m.Job.Phase != api.JobPlacing || !r.Asked:
		m.do(Release{e.Attempt, m.Job.Epoch, e.Rank, e.Node})
	default:
		m.eachOn(r.Node, func(r *Rank) { r.Granted, r.busy, r.Phase = true, false, api.RankGranted })
		m.nextGrant()
		m.startIfReady()
	}
}

// noted reports whether a person was told of something about the attempt's plan.
func (m *step) noted(reason api.Reason) bool {
	a := m.attempt()
	return a != nil && a.Plan != nil && slices.ContainsFunc(a.Plan.Notes, func(n api.Cause) bool { return n.Reason == reason })
}

// home adds to what a person should know of the attempt's plan.
func (e Noted) home(m *step) {
	a := m.attempt()
	if !m.open || e.Attempt != m.Job.Attempt || a.Plan == nil || slices.Contains(a.Plan.Notes, e.Note) {
		return
	}
	plan := *a.Plan // readers have the former
	plan.Notes = append(slices.Clone(plan.Notes), e.Note)
	a.Plan, m.dirty = &plan, true
}

func (e GrantRefused) home(m *step) {
	r := m.rank(e.Attempt, e.Rank)
	if r == nil || m.Job.Phase != api.JobPlacing || !r.Asked || r.Granted {
		return
	}
	if !e.Busy {
		r.Asked = false
		m.fail(Failure{Cause: e.Cause, Rank: -1})
		return
	}
	if !isBrief(e.Cause.Reason) {
		m.tooLate(e.Cause)
		return
	}
	m.eachOn(r.Node, func(r *Rank) { r.busy = true })
	m.enter(api.JobPlacing, e.Cause)
	m.nextGrant()
}

// isBrief reports whether what is in the way of a grant is soon over, so that others may be
// held meanwhile: a measurement, a change of RDMA, or other programs, of which a node waits
// for the end so long at most.
func isBrief(r api.Reason) bool {
	return r == api.ReasonMeasurementRunning || r == api.ReasonRDMAChangeRunning || r == api.ReasonGPUUsedByOtherProgram
}

// tooLate gives an attempt up, of which other jobs have what it needs: while it waits it
// holds no part. Nothing of it is left.
func (m *step) tooLate(why Cause) {
	m.stop(TimerRenew)
	m.closeAttempt()
	if m.Job.Attempts = m.Job.Attempts[:len(m.Job.Attempts)-1]; len(m.Job.Attempts) == 0 {
		m.Job.Attempts = nil // as it is read again
	}
	m.enter(api.JobPlacing, why)
	if m.blocked = m.rival(); m.blocked {
		m.place()
		return
	}
	m.do(AskPlan{Later: true})
}

// nextGrant stands in line where something brief is in the way of the first requests: for one
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
		if m.Ranks[i] = (Rank{Node: m.Ranks[i].Node}); m.leads(i) {
			m.ask(i, 0)
		}
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

// reportUncleared says for what an attempt waits that has all but enough members who
// know of it. That takes a round trip, so it is not said at once.
func (m *step) reportUncleared() {
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
