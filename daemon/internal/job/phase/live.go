package phase

import (
	"cmp"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// home moves a rank on; a phase that cannot follow is news that came late.
func (e RankAt) home(m *step) {
	r := m.rank(e.Attempt, e.Rank)
	if r == nil || !r.Started || r.Phase.Ended() || e.Phase.Ended() {
		return
	}
	m.handshake(e.Rank, e.Phase, e.Handshake)
	if e.Handshake.Valid() {
		r.Missing = e.Missing
	}
	moved := later(r.Phase, e.Phase)
	if moved {
		r.Phase = e.Phase
	}
	r.Prepared = r.Prepared || e.Prepared
	r.ready = r.ready || e.Ready
	r.trouble = e.Trouble
	m.spawnIfPrepared()
	if moved {
		m.advance()
	}
	m.readied()
	m.reportTrouble()
}

// readied notes when the attempt was ready first. A rank may have been ready before the
// others ran, and does not report it again.
func (m *step) readied() {
	isReady := !m.Rules.Probed || slices.ContainsFunc(m.Ranks, func(r Rank) bool { return r.ready })
	if a := m.attempt(); isReady && m.Job.Phase == api.JobRunning && a.ReadyAt.IsZero() {
		a.ReadyAt, m.dirty = m.at, true
	}
}

// reportTrouble says which rank does not go on, and why, while the job is as it was. The
// cause for which an attempt is ended stays its message.
func (m *step) reportTrouble() {
	of := m.ranksThat(func(_ int, r Rank) bool { return r.trouble.Reason != "" })
	why := Cause{}
	if len(of) > 0 {
		why = m.Ranks[of[0]].trouble
		why.WaitingFor = m.named(of)
	}
	if m.stall.Reason != "" {
		why = m.stall
	}
	isTroubled := why.Reason != ""
	switch p := m.Job.Phase; {
	case p == api.JobEnding && (why.WaitingFor != "" || m.troubled):
		why = Cause{Reason: m.Job.Reason, Message: m.Job.Message, WaitingFor: why.WaitingFor}
	case p != api.JobHandshake && p != api.JobRunning || why.Reason == "" && !m.troubled:
		return
	}
	if m.troubled = isTroubled; m.Job.Message != why.Message || m.Job.WaitingFor != why.WaitingFor {
		m.enter(m.Job.Phase, why)
	}
}

// handshake notes how far a rank has come in joining.
func (m *step) handshake(rank int, p api.RankPhase, state api.HandshakeState) {
	if state.Valid() {
		m.Ranks[rank].Handshake = state
	}
	if m.handshakes() && (p == api.RankRunning || state == api.HandshakeJoined) && !m.hasJoined(rank) {
		a := m.attempt()
		a.Joined = append(slices.Clone(a.Joined), rank)
		slices.Sort(a.Joined)
		m.dirty = true
	}
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
		m.stop(TimerPlacing, TimerStarting, TimerHandshake)
		m.ran, m.isOver = true, false
		m.enter(api.JobRunning, Cause{})
		m.readied()
		if m.Rules.Run > 0 {
			m.start(TimerRun, m.Rules.Run-m.ranFor())
		}
		m.receive()
	case p == api.JobStarting && spawned:
		m.stop(TimerStarting)
		m.enter(api.JobHandshake, Cause{})
		m.start(TimerHandshake, m.Rules.Handshake)
	}
}

// home notes an end. The first that is not good ends the group.
func (e RankEnded) home(m *step) {
	r := m.rank(e.Attempt, e.Rank)
	if r == nil || !r.Started || r.Phase.Ended() {
		return
	}
	m.handshake(e.Rank, "", e.Handshake)
	r.Phase, r.Exit, r.trouble = api.RankExited, e.Exit, Cause{}
	if e.Exit == nil {
		r.Phase = api.RankLost
	}
	f := m.failureOf(e.Rank, Cause{Reason: e.Reason, Message: e.Message, Final: e.Final}, e.Exit, e.Handshake, e.Severed)
	f = m.unrenewed(f)
	r.well = e.Exit != nil && e.Exit.Status() == 0 && f.Reason == ""
	if m.Job.Phase == api.JobEnding {
		m.wasFirst(f, e.At)
		m.finishIfEnded()
		return
	}
	m.failedAt(e.At)
	// A ring is not watched: it may be through before its start was reported.
	if e.Exit != nil && e.Exit.Status() == 0 && f.Reason != api.ReasonNeverJoined {
		m.spawnIfPrepared()
		m.advance()
		m.finishIfEnded()
		return
	}
	m.fail(f)
}

// home ends the group as soon as one of its programs has ended badly.
func (e RankFailing) home(m *step) {
	r := m.rank(e.Attempt, e.Rank)
	if r == nil || !r.MayLive() || e.Exit == nil || !MayLive(m.Job.Phase) {
		return
	}
	m.handshake(e.Rank, "", e.Handshake)
	f := m.failureOf(e.Rank, Cause{Reason: e.Reason, Message: e.Message, Final: e.Final}, e.Exit, e.Handshake, e.Severed)
	f = m.unrenewed(f)
	if e.Exit.Status() == 0 && f.Reason != api.ReasonNeverJoined {
		return
	}
	if m.Job.Phase == api.JobEnding {
		m.wasFirst(f, e.At)
		return
	}
	m.failedAt(e.At)
	m.fail(f)
}

// renew renews all leases, unless some node did not answer the last time. That one is
// asked again, for as long as a daemon may take to be started again, and nobody else's
// leases are renewed meanwhile: so the ranks end on all sides, or on none.
func (m *step) renew() {
	if !m.open || m.Job.Phase == api.JobEnding {
		return
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if n.missed++; !n.asked {
			n.missed = 0
		}
		if time.Duration(n.missed)*m.Rules.Renewal > m.Rules.Lease/2 {
			NodeLost{Node: n.ID, Cause: Cause{Reason: api.ReasonNodeLost,
				Message: m.Rules.name(n.ID) + " did not answer for " + seconds(time.Duration(n.missed)*m.Rules.Renewal) + ", so the leases of its ranks could not be renewed."}}.home(m)
			return
		}
	}
	some := slices.ContainsFunc(m.Nodes, func(n Node) bool { return n.asked })
	for i := range m.Nodes {
		n := &m.Nodes[i]
		if some && !n.asked {
			continue
		}
		started := slices.ContainsFunc(m.Ranks, func(r Rank) bool { return r.Node == n.ID && (r.Granted || r.Started) })
		if started {
			n.asked = true
			m.do(Renew{m.Job.Attempt, m.Job.Epoch, n.ID, m.Rules.Lease})
		}
	}
	m.reportUncleared()
	m.start(TimerRenew, m.Rules.Renewal)
	if m.Job.Phase != api.JobPlacing && !some {
		m.start(TimerLease, m.Rules.Window())
	}
}

func (e NodeLost) home(m *step) {
	n := m.node(e.Node)
	if n == nil || !m.open {
		return
	}
	name := m.Rules.name(e.Node)
	e.Cause.Reason = cmp.Or(e.Cause.Reason, api.ReasonNodeLost)
	e.Cause.WaitingFor = cmp.Or(e.Cause.WaitingFor, "node "+name)
	e.Cause.Message = cmp.Or(e.Cause.Message, name+" no longer answers.")
	f := Failure{Cause: e.Cause, Rank: slices.IndexFunc(m.Ranks, func(r Rank) bool { return r.Node == e.Node })}
	m.lay(f, e.Since)
	m.fail(f)
}

// home ends the group whose ranks cannot talk any more: they would not notice.
func (e LinkLost) home(m *step) {
	if !m.current(e.Attempt) {
		return
	}
	f := Failure{Cause: e.Cause, Rank: -1}
	m.lay(f, api.Time{})
	m.fail(f)
}

func (e Unlike) home(m *step) {
	if m.current(e.Attempt) {
		m.fail(Failure{Cause: e.Cause, Rank: -1})
	}
}

func (e NodeBack) home(m *step) {
	if m.Job.Phase == api.JobEnding {
		m.endOn(e.Node)
	}
}

// leaseOver is when no rank can live any more that is not known to have ended.
func (m *step) leaseOver() {
	if !m.open || !MayLive(m.Job.Phase) {
		return
	}
	silent := m.ranksThat(func(_ int, r Rank) bool { return r.MayLive() })
	named := m.named(silent)
	for _, i := range silent {
		m.Ranks[i].Phase = api.RankLost
	}
	if m.Job.Phase != api.JobEnding {
		f := Failure{Rank: -1, Cause: Cause{Reason: api.ReasonLeaseExpired, WaitingFor: named,
			Message: "Nothing was heard from " + named + " for so long that what runs there must have ended."}}
		if m.forgot {
			f.Cause = m.hasForgotten(whileItRan)
		}
		m.fail(f)
		return
	}
	m.finishIfEnded()
}
