package phase

import (
	"slices"

	"fulmen/daemon/api"
)

// rankAt moves a rank on; a phase that cannot follow is news that came late.
func (m *step) rankAt(e RankAt) {
	r := m.rank(e.Attempt, e.Rank)
	if r == nil || !r.Started || e.Phase.Ended() || !later(r.Phase, e.Phase) {
		return
	}
	r.Phase = e.Phase
	if a := m.attempt(); r.Phase == api.RankRunning && a.Plan != nil && a.Plan.Backend.RDMA() && !slices.Contains(a.Joined, e.Rank) {
		a.Joined = append(slices.Clone(a.Joined), e.Rank)
		slices.Sort(a.Joined)
		m.dirty = true
	}
	m.advance()
}

// later reports whether a rank can get from one phase to another.
func later(from, to api.RankPhase) bool {
	order := api.RankPhase("").Values()
	return to.Valid() && !from.Ended() && slices.Index(order, string(to)) > slices.Index(order, string(from))
}

// advance moves the job on once all its ranks have.
func (m *step) advance() {
	spawned, running := true, true
	for _, r := range m.Ranks {
		spawned = spawned && (r.Phase == api.RankHandshake || r.Phase == api.RankRunning || r.Phase.Ended())
		running = running && (r.Phase == api.RankRunning || r.Phase.Ended())
	}
	switch p := m.Job.Phase; {
	case (p == api.JobStarting || p == api.JobHandshake) && running:
		m.stop(TimerStarting, TimerHandshake)
		m.ran = true
		m.enter(api.JobRunning, Cause{})
		if m.Rules.Run > 0 {
			m.start(TimerRun, m.Rules.Run)
		}
		if m.Rules.Silence > 0 {
			m.start(TimerSilence, m.Rules.Silence)
		}
	case p == api.JobStarting && spawned:
		m.stop(TimerStarting)
		m.enter(api.JobHandshake, Cause{})
		m.start(TimerHandshake, m.Rules.Handshake)
	}
}

// rankEnded notes an end. The first that is not good ends the group.
func (m *step) rankEnded(e RankEnded) {
	r := m.rank(e.Attempt, e.Rank)
	if r == nil || !r.Started || r.Phase.Ended() {
		return
	}
	joined := r.Phase == api.RankRunning || r.Phase == api.RankEnding
	r.Phase, r.Exit = api.RankExited, e.Exit
	if e.Exit == nil {
		r.Phase = api.RankLost
	}
	f := Failure{Cause: Cause{Reason: e.Reason, Message: e.Message, Final: e.Final}, Rank: e.Rank, Exit: e.Exit}
	if m.Job.Phase == api.JobEnding {
		m.wasFirst(f, e.At)
		m.finishIfEnded()
		return
	}
	m.failedAt(e.At)
	switch {
	case e.Exit != nil && e.Exit.Status() == 0:
		// A ring is not watched: it may be through before its start was reported.
		if !joined && m.attempt().Plan.Backend.RDMA() && len(m.Ranks) > 1 && !m.Rules.AllowSolo {
			f.Reason = api.ReasonNeverJoined
			m.fail(f)
			return
		}
		m.advance()
		m.finishIfEnded()
		return
	case f.Reason == "":
		f.Reason = reasonOf(e.Exit)
	}
	m.fail(f)
}

// rankFailing ends the group as soon as one of its programs has ended badly.
func (m *step) rankFailing(e RankFailing) {
	r := m.rank(e.Attempt, e.Rank)
	if r == nil || !r.MayLive() || e.Exit == nil || e.Exit.Status() == 0 || !live(m.Job.Phase) {
		return
	}
	if e.Reason == "" {
		e.Reason = reasonOf(e.Exit)
	}
	f := Failure{Cause: Cause{Reason: e.Reason, Message: e.Message, Final: e.Final}, Rank: e.Rank, Exit: e.Exit}
	if m.Job.Phase == api.JobEnding {
		m.wasFirst(f, e.At)
		return
	}
	m.failedAt(e.At)
	m.fail(f)
}

// failedAt notes when the program ended whose failure is told next.
func (m *step) failedAt(at api.Time) {
	if m.Cause == nil {
		m.causeAt = at
	}
}

// wasFirst makes a rank the first cause whose program had ended badly by itself
// before that of the rank which was heard of first: news of a rank next door come
// sooner. Both times are their nodes' own, which may differ by a little.
func (m *step) wasFirst(f Failure, at api.Time) {
	if m.Cause == nil || m.Cause.Rank < 0 || m.Cause.Rank == f.Rank || f.Exit == nil || f.Exit.Status() == 0 ||
		at.IsZero() || m.causeAt.IsZero() || !at.Before(m.causeAt.Time) {
		return
	}
	if f.Reason == "" {
		f.Reason = reasonOf(f.Exit)
	}
	m.Cause, m.causeAt = nil, at
	m.fail(f)
	m.enter(m.Job.Phase, m.Cause.Cause)
}

// reasonOf names the end of a process.
func reasonOf(e *api.Exit) api.Reason {
	switch {
	case e == nil:
		return api.ReasonRankLost
	case e.OutOfMemory:
		return api.ReasonRankOutOfMemory
	case e.Signal != 0 && slices.Contains(crashes(), e.Signal):
		return api.ReasonRankCrashed
	case e.Signal != 0:
		return api.ReasonRankKilled
	}
	return api.ReasonRankFailed
}

// crashes are the signals that a program brings on itself and that have the same
// number on macOS and Linux: SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV.
func crashes() []int { return []int{4, 5, 6, 8, 11} }

// renew renews all leases, unless some node did not answer the last time: then
// none is renewed, and the ranks end on all sides.
func (m *step) renew() {
	if !m.open || m.Job.Phase == api.JobEnding {
		return
	}
	for _, n := range m.Nodes {
		if n.asked || n.Lost {
			m.nodeLost(NodeLost{n.ID, Cause{Reason: api.ReasonNodeLost}})
			return
		}
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		started := slices.ContainsFunc(m.Ranks, func(r Rank) bool { return r.Node == n.ID && (r.Granted || r.Started) })
		if started {
			n.asked = true
			m.do(Renew{m.Job.Attempt, m.Job.Epoch, n.ID, m.Rules.Lease})
		}
	}
	m.sayUncleared()
	m.start(TimerRenew, m.Rules.Renewal)
	if m.Job.Phase != api.JobPlacing {
		m.start(TimerLease, m.Rules.Window())
	}
}

func (m *step) nodeLost(e NodeLost) {
	n := m.node(e.Node)
	if n == nil || !m.open || n.Lost && m.Job.Phase == api.JobEnding {
		return
	}
	n.Lost = true
	if e.Cause.Reason == "" {
		e.Cause.Reason = api.ReasonNodeLost
	}
	if e.Cause.WaitingFor == "" {
		e.Cause.WaitingFor = "node " + string(e.Node)
	}
	rank := slices.IndexFunc(m.Ranks, func(r Rank) bool { return r.Node == e.Node })
	m.fail(Failure{Cause: e.Cause, Rank: rank})
}

func (m *step) nodeBack(id api.NodeID) {
	n := m.node(id)
	if n == nil || !m.open {
		return
	}
	n.Lost = false
	if m.Job.Phase == api.JobEnding {
		m.endOn(id)
	}
}

// leaseOver is when no rank can live any more that is not known to have ended.
func (m *step) leaseOver() {
	if !m.open || !live(m.Job.Phase) {
		return
	}
	for i := range m.Ranks {
		if r := &m.Ranks[i]; r.MayLive() {
			r.Phase = api.RankLost
		}
	}
	if m.Job.Phase != api.JobEnding {
		m.fail(Failure{Cause: Cause{Reason: api.ReasonLeaseExpired}, Rank: -1})
		return
	}
	m.finishIfEnded()
}
