package phase

import (
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

	causeAt    api.Time      // when the program of Cause's rank ended; zero where that is not known
	causeHeard api.Time      // when Cause was heard of
	serial     uint64        // of timers
	open       bool          // the current attempt has asked for grants and is not closed
	preflight  bool          // passed
	preparing  bool          // the nodes are being prepared; no rank that waits was told to run
	inLine     bool          // grants are asked for one after the other
	holders    []api.NodeID  // that hold the document with the current attempt
	inherited  int           // the last attempt that a former home is known to have begun
	begun      int           // the last attempt that this home has begun
	ran        bool          // all ranks have joined
	forgot     bool          // this home had lost what it knew: it starts nothing any more
	handing    api.NodeID    // the node that was asked to be the home
	members    []api.NodeID  // of the cluster
	reached    []api.NodeID  // of them, in sight
	told       []api.NodeID  // that may hold a document of this job
	known      bool          // every member may hold one
	blocked    bool          // waits for a majority before anything starts
	taken      bool          // taken over with ranks that may live; no witness yet
	lostLong   bool          // the home has been gone long enough to be replaced
	voting     bool          // votes were asked for a moment ago
	isOver     bool          // the time for placing, over all attempts until all ranks join
	failedRuns int           // all of them, for the back-off
	troubled   bool          // the job says that a rank does not go on
	idle       time.Duration // how long this home did nothing since it last renewed all leases
	idleWhy    string        // what it did meanwhile, without an end
	answered   int           // renewals that all answered since then
	listened   int           // how often the nodes were asked since the time for silence was over
	maxEpoch   uint64        // the highest epoch heard of
	stopWhy    api.Reason    // why the job is stopped, where no person said so
}

// Rank is one process of the current attempt, as its home knows it.
type Rank struct {
	// Node is where it runs.
	Node api.NodeID
	// Phase is where it is; empty before it has its grant.
	Phase api.RankPhase
	// Asked says that a grant was asked for and not given back.
	Asked bool
	// Granted says that it was given.
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
	s.told = slices.Clone(s.told)
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
			knows = knows || s.known || slices.Contains(s.told, m)
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
			knows = knows || s.known || slices.Contains(s.told, m)
		}
	}
	return len(s.members) > 0 && !(knows && lacking*2 > len(s.members))
}

// Inherited reports whether an attempt was begun by a former home, so that its
// ranks were started under a lower epoch than the job's.
func (s State) Inherited(attempt int) bool { return attempt <= s.inherited }

// live reports whether a phase may have live ranks.
func live(p api.JobPhase) bool {
	switch p {
	case api.JobStarting, api.JobHandshake, api.JobRunning, api.JobEnding:
		return true
	}
	return false
}
