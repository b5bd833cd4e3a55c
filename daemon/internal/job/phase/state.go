package phase

import (
	"cmp"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// Role is what a node does for a job.
type Role string

const (
	// RoleHome drives it.
	RoleHome Role = "home"
	// RoleFollower knows it, and takes it over where that is its turn.
	RoleFollower Role = "follower"
)

// State is all that a node knows of a job. It is a plain value: [Next] leaves
// the one it is given as it is. Fields are for reading.
type State struct {
	// Self is this node.
	Self api.NodeID
	// Role is what it does for the job.
	Role Role
	// Rules are the job's.
	Rules Rules
	// Job is the document: what this node published as home, or what it follows.
	Job api.Job
	// Ranks are those of the current attempt; none before the first plan.
	Ranks []Rank
	// Nodes are the nodes of the current attempt.
	Nodes []Node
	// Cause is the first cause for which the attempt is being ended.
	Cause *Failure
	// HomeLost says that a follower does not see the home.
	HomeLost bool
	// HomeLostSince is when it saw it last.
	HomeLostSince api.Time
	// Timers are those that run.
	Timers []TimerID

	causeAt       api.Time      // when the program of Cause's rank ended; zero where that is not known
	causeReported api.Time      // when Cause was heard of
	serial        uint64        // of timers
	open          bool          // the current attempt has asked for grants and is not closed
	preflight     bool          // passed
	preparing     bool          // the nodes are being prepared; no rank that waits was told to run
	inLine        bool          // grants are asked for one after the other
	holders       []api.NodeID  // that hold the document with the current attempt
	inherited     int           // the last attempt that a former home is known to have begun
	begun         int           // the last attempt that this home has begun
	ran           bool          // all ranks have joined
	forgot        bool          // this home had lost what it knew: it starts nothing any more
	handing       api.NodeID    // the node that was asked to be the home
	members       []api.NodeID  // of the cluster
	reached       []api.NodeID  // of them, in sight
	reported      []api.NodeID  // that may hold a document of this job
	known         bool          // every member may hold one
	blocked       bool          // waits for a majority before anything starts
	taken         bool          // taken over with ranks that may live; no witness yet
	lostLong      bool          // the home has been gone long enough to be replaced
	voting        bool          // votes were asked for a moment ago
	isOver        bool          // the time for placing, over all attempts until all ranks join
	failedRuns    int           // all of them, for the back-off
	troubled      bool          // the job says that a rank does not go on
	stall         Cause         // why the group does not get on; zero while it does
	idle          time.Duration // how long this home did nothing since it last renewed all leases
	idleWhy       string        // what it did meanwhile, without an end
	answered      int           // renewals that all answered since then
	listened      int           // how often the nodes were asked since the time for silence was over
	maxEpoch      uint64        // the highest epoch heard of
}

// Rank is one process of the current attempt, as its home knows it.
type Rank struct {
	// Node is where it runs.
	Node api.NodeID
	// Phase is where it is; empty before it has its grant.
	Phase api.RankPhase
	// Asked says that a grant was asked for and not given back, of the first rank on its node.
	Asked bool
	// Granted says that it was given, to all ranks on the node.
	Granted bool
	// Started says that the node was told to start it, so that it may live until it ended.
	Started bool
	// Prepared says that its node is ready to start it with the others.
	Prepared bool
	// Exit is how it ended, where known.
	Exit *api.Exit
	// Handshake is how far it has come in joining; empty where that is not told.
	Handshake api.HandshakeState
	// Missing are the ranks that the group waits for; of rank 0.
	Missing []int

	well    bool  // its program ended by itself, and well
	trouble Cause // that keeps it from going on
	ready   bool  // its probe has passed
	busy    bool  // the first request found others in line
}

// MayLive reports whether a process of this rank may exist.
func (r Rank) MayLive() bool { return r.Started && !r.Phase.Ended() }

// Node is a node of the current attempt.
type Node struct {
	// ID is the node.
	ID api.NodeID

	asked  bool // a renewal was not answered yet
	missed int  // renewals in a row that were not answered
}

// Failure is why an attempt is ended.
type Failure struct {
	Cause
	// Rank is the rank that failed first; -1 for none.
	Rank int
	// Exit is how it ended, where known.
	Exit *api.Exit

	severed  bool // its side channel was closed on it: it is the consequence of another failure
	outside  bool // its program ended by itself and had not begun to join
	deadline bool // something took all the time it had
}

// Phase is where the job is as this node sees it: a follower that does not see
// the home says home_lost.
func (s State) Phase() api.JobPhase {
	if s.HomeLost && !s.Job.Phase.Ended() {
		return api.JobHomeLost
	}
	return s.Job.Phase
}

// MayVote reports whether this node may vote that another one be the home in place of
// one: it knows the job, which has not ended, and has not heard that home itself for
// as long as any of its ranks can live unrenewed.
func (s State) MayVote(home api.NodeID, epoch uint64) bool {
	return s.HomeLost && s.lostLong && !s.Job.Phase.Ended() && s.Job.Home == home && s.Job.Epoch == epoch
}

// Live reports whether processes of the current attempt may exist.
func (s State) Live() bool {
	return slices.ContainsFunc(s.Ranks, Rank.MayLive)
}

// clone copies what Next changes in place.
func (s State) clone() State {
	s.Ranks = slices.Clone(s.Ranks)
	s.Nodes = slices.Clone(s.Nodes)
	s.Timers = slices.Clone(s.Timers)
	s.reported = slices.Clone(s.reported)
	s.holders = slices.Clone(s.holders)
	s.Job.Attempts = slices.Clone(s.Job.Attempts)
	s.Job.Phases = slices.Clone(s.Job.Phases)
	return s
}

// attempt is the current attempt's record; nil before the first.
func (s *State) attempt() *api.Attempt {
	if n := len(s.Job.Attempts); n > 0 && s.Job.Attempts[n-1].Attempt == s.Job.Attempt {
		return &s.Job.Attempts[n-1]
	}
	return nil
}

// rival reports whether a majority of the cluster is out of sight and may know
// the job, so that it may have taken it over.
func (s *State) rival() bool {
	away, knows := 0, false
	for _, m := range s.members {
		if !slices.Contains(s.reached, m) {
			away++
			knows = knows || s.known || slices.Contains(s.reported, m)
		}
	}
	return knows && away*2 > len(s.members)
}

// cleared reports whether an attempt may start: whoever could take the job over
// will know of it. A majority that lacks it holds nobody who knows the job.
func (s *State) cleared() bool {
	lacking, knows := 0, false
	for _, m := range s.members {
		if m != s.Self && !slices.Contains(s.holders, m) {
			lacking++
			knows = knows || s.known || slices.Contains(s.reported, m)
		}
	}
	return len(s.members) > 0 && !(knows && lacking*2 > len(s.members))
}

// Inherited reports whether an attempt was begun by a former home, so that its
// ranks were started under a lower epoch than the job's.
func (s State) Inherited(attempt int) bool { return attempt <= s.inherited }

// MayLive reports whether a phase may have live ranks.
func MayLive(p api.JobPhase) bool {
	switch p {
	case api.JobStarting, api.JobHandshake, api.JobRunning, api.JobEnding:
		return true
	}
	return false
}

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
	if presence, ok := e.(Presence); ok {
		m.presence(presence)
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
		e.home(m)
	default:
		m.follow(e)
	}
}

// These a home has no use for, or are taken alike by whoever hears of them.
func (Voted) home(*step)       {}
func (VoteRefused) home(*step) {}
func (Presence) home(*step)    {}
func (Signed) home(*step)      {}

func (e Seen) home(m *step) {
	if !e.Job.Outranks(m.Job) {
		m.foreign(e.Job)
		return
	}
	if stop := m.Job.StopRequested; stop != nil && m.handing == e.Job.Home {
		m.do(ForwardStop{m.handing, *stop})
	}
	m.stopActing(e.Job.Epoch)
	m.Job = e.Job
}

func (e TakeOver) home(m *step) {
	if m.handing != "" {
		m.takeOver(m.Rules.Steps.Act(m.Job, e.By, m.Self, m.nextEpoch()))
	}
}

// home acts on a deadline of the home's.
func (e TimerFired) home(m *step) {
	switch e.Timer.Kind {
	case TimerPlacing:
		if m.handing != "" {
			return // the other node, if it is the home now, keeps this deadline
		}
		if MayLive(m.Job.Phase) { // what was begun goes on, and is not begun again
			m.isOver = true
			return
		}
		reason := cmp.Or(m.Job.Reason, api.ReasonNotEnoughNodes)
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
	switch m.Job.Phase = p; p {
	case api.JobQueued, api.JobPlacing, api.JobHomeLost:
	default:
		m.Job.Wanted = nil // it has what it needs, or wants nothing now
	}
	m.Job.Reason, m.Job.Message, m.Job.WaitingFor = why.Reason, why.Message, why.WaitingFor
	if why.Reason != api.ReasonStalled {
		m.Job.Suspect = nil
	}
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
