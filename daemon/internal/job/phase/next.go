package phase

import (
	"slices"
	"time"

	"fulmen/daemon/api"
)

// step is one call of Next on its way.
type step struct {
	State
	at    api.Time
	dirty bool // the document changed
	out   []Effect
}

// Next is what becomes of a job when something happened at a moment of the wall
// clock, and what is to be done about it. The state it is given stays as it is.
// A job that has ended changes no more: only a grant that comes late is given back,
// and its spec may be signed anew.
func Next(s State, at api.Time, e Event) (State, []Effect) {
	m := &step{State: s.clone(), at: at}
	m.take(e)
	return m.done()
}

func (m *step) done() (State, []Effect) {
	if m.dirty {
		m.complete()
		m.out = slices.Insert(m.out, 0, Effect(PutDocument{m.Job}))
	}
	return m.State, m.out
}

func (m *step) take(e Event) {
	if g, ok := e.(Granted); ok && !m.current(g.Attempt) {
		m.do(Release{g.Attempt, m.Job.Epoch, g.Rank, g.Node})
		return
	}
	if sight, ok := e.(Sight); ok {
		m.sight(sight)
		return
	}
	if signed, ok := e.(Signed); ok {
		m.Job, m.Rules.Steps = signed.Job, signed.Steps
		return
	}
	if t, ok := e.(TimerFired); ok && !m.fired(t.Timer) {
		return
	}
	switch {
	case m.Job.Phase.Ended():
	case m.Role == RoleHome:
		m.home(e)
	default:
		m.follow(e)
	}
}

// home takes an event at the node that acts for the job.
func (m *step) home(e Event) {
	switch e := e.(type) {
	case Planned:
		m.planned(e.Plan)
	case Unplaceable:
		m.unplaceable(e.Cause)
	case HandOverRefused:
		m.handOverRefused(e)
	case Preflighted:
		if m.current(e.Attempt) && m.Job.Phase == api.JobPlacing {
			m.preflight = true
			for _, note := range e.Notes {
				m.note(Noted{e.Attempt, note})
			}
			m.startIfReady()
		}
	case PreflightFailed:
		if m.current(e.Attempt) && m.Job.Phase == api.JobPlacing {
			m.preflightFailed(e)
		}
	case Granted:
		m.granted(e)
	case Noted:
		m.note(e)
	case GrantRefused:
		m.refused(e)
	case RankAt:
		m.rankAt(e)
	case RankEnded:
		m.rankEnded(e)
	case RankFailing:
		m.rankFailing(e)
	case EndAccepted:
		if m.current(e.Attempt) && m.node(e.Node) != nil {
			m.witnessed()
		}
	case Renewed:
		if n := m.node(e.Node); n != nil && m.current(e.Attempt) {
			m.renewed(n)
		}
	case Idled:
		m.idled(e)
	case NodeLost:
		m.nodeLost(e)
	case LinkLost:
		m.linkLost(e)
	case Unlike:
		if m.current(e.Attempt) {
			m.fail(Failure{Cause: e.Cause, Rank: -1})
		}
	case NodeBack:
		m.nodeBack(e.Node)
	case Printed:
		m.hear()
	case StopAsked:
		m.stopAsked(e)
	case Held:
		m.documentHeld(e)
	case Seen:
		if e.Job.Outranks(m.Job) {
			if stop := m.Job.StopRequested; stop != nil && m.handing == e.Job.Home {
				m.do(ForwardStop{m.handing, *stop})
			}
			m.stopActing(e.Job.Epoch)
			m.Job = e.Job
		} else {
			m.foreign(e.Job)
		}
	case TakeOver:
		if m.handing != "" {
			m.takeOver(m.Rules.act(m.Job, e.By, m.Self, m.nextEpoch()))
		}
	case TimerFired:
		m.due(e.Timer.Kind)
	}
}

// due acts on a deadline of the home's.
func (m *step) due(k TimerKind) {
	switch k {
	case TimerPlacing:
		if m.handing != "" {
			return // the other node, if it is the home now, keeps this deadline
		}
		if live(m.Job.Phase) { // what was begun goes on, and is not begun again
			m.isOver = true
			return
		}
		reason := m.Job.Reason
		if reason == "" {
			reason = api.ReasonNotEnoughNodes
		}
		m.fail(Failure{Cause: Cause{Reason: reason, Message: m.Job.Message, WaitingFor: m.Job.WaitingFor, Final: true}, Rank: -1})
	case TimerHandOver:
		m.sendHandOver()
	case TimerPreparing:
		m.late(api.ReasonPreparingTimeout, "Not every rank was prepared within "+seconds(m.Rules.Preparing), m.unprepared())
	case TimerStarting:
		m.late(api.ReasonStartingTimeout, "Not every rank was started within "+seconds(m.Rules.Starting), m.unstarted())
	case TimerHandshake:
		m.late(api.ReasonHandshakeTimeout, "Not every rank joined within "+seconds(m.Rules.Handshake), m.missing())
	case TimerRun:
		m.late(api.ReasonRunTooLong, "The job ran longer than "+seconds(m.Rules.Run), nil)
	case TimerSilence:
		m.silent()
	case TimerRenew:
		m.renew()
	case TimerLease:
		m.leaseOver()
	case TimerEnd:
		m.endAll()
	case TimerBackoff:
		m.place()
	}
}

// enter goes to a phase, or to another reason for being in the same.
func (m *step) enter(p api.JobPhase, why Cause) {
	if m.Job.Phase != p {
		m.Job.PhaseSince = m.at
		m.passed(p)
		if p != api.JobBackoff {
			m.Job.NextAttemptAt = api.Time{}
		}
	}
	m.Job.Phase = p
	m.Job.Reason, m.Job.Message, m.Job.WaitingFor = why.Reason, why.Message, why.WaitingFor
	m.dirty = true
}

// Documents are bounded: of a job with many attempts the first ones and the
// first phases are forgotten.
const (
	maxAttemptsKept = 64
	maxPhasesKept   = 512
	maxPlansKept    = 4
)

func (m *step) passed(p api.JobPhase) {
	m.Job.Phases = append(m.Job.Phases, api.PhaseTime{Phase: p, Attempt: m.Job.Attempt, At: m.at})
	m.Job.Phases = slices.Delete(m.Job.Phases, 0, max(len(m.Job.Phases)-maxPhasesKept, 0))
}

func (m *step) do(e Effect) { m.out = append(m.out, e) }

// current reports whether an event is about the attempt that is going on.
func (m *step) current(attempt int) bool { return m.open && attempt == m.Job.Attempt }

func (m *step) rank(attempt, rank int) *Rank {
	if !m.current(attempt) || rank < 0 || rank >= len(m.Ranks) {
		return nil
	}
	return &m.Ranks[rank]
}

func (m *step) node(id api.NodeID) *Node {
	for i := range m.Nodes {
		if m.Nodes[i].ID == id {
			return &m.Nodes[i]
		}
	}
	return nil
}

// start runs a timer, anew where one of the kind runs.
func (m *step) start(k TimerKind, after time.Duration) {
	m.stop(k)
	m.serial++
	id := TimerID{k, m.serial}
	m.Timers = append(m.Timers, id)
	m.do(StartTimer{id, after})
}

func (m *step) stop(kinds ...TimerKind) {
	m.Timers = slices.DeleteFunc(m.Timers, func(t TimerID) bool {
		if slices.Contains(kinds, t.Kind) {
			m.do(StopTimer{t})
			return true
		}
		return false
	})
}

func (m *step) runs(k TimerKind) bool {
	return slices.ContainsFunc(m.Timers, func(t TimerID) bool { return t.Kind == k })
}

// fired takes a timer off the list and reports whether it was on it.
func (m *step) fired(id TimerID) bool {
	i := slices.Index(m.Timers, id)
	if i >= 0 {
		m.Timers = slices.Delete(m.Timers, i, i+1)
	}
	return i >= 0
}

// stopTimers stops all that this node runs for the job.
func (m *step) stopTimers() {
	for _, t := range m.Timers {
		m.do(StopTimer{t})
	}
	m.Timers = nil
}
