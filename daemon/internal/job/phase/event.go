package phase

import (
	"time"

	"fulmen/daemon/api"
)

// Event is something that happened to a job. Events about an attempt other than
// the current one, and those that do not fit the state, change nothing.
type Event interface{ event() }

// Cause says why something did not work.
type Cause struct {
	// Reason is the stable key.
	Reason api.Reason
	// Message is one sentence for a person; may be empty.
	Message string
	// WaitingFor is what is in the way, and who.
	WaitingFor string
	// Final says that trying again cannot help.
	Final bool
}

// Signed says that the home has signed the job again, for another cluster, and has
// published it. It changes neither what the job does nor who its home is. Steps replaces
// that of the rules.
type Signed struct {
	Job   api.Job
	Steps Steps
}

// Planned answers [AskPlan]: this is where the job is to run.
type Planned struct{ Plan api.Plan }

// Unplaceable answers [AskPlan]: there is no place. Unless the cause is final
// the caller sends Planned as soon as there is one.
type Unplaceable struct{ Cause Cause }

// HandOverRefused says that the node asked by [HandOver] is not the job's home, and will
// not become it from that call.
type HandOverRefused struct {
	Node  api.NodeID
	Cause Cause
}

// Preflighted answers [Preflight]: all nodes have what the program needs.
type Preflighted struct {
	Attempt int
	// Notes are what a person should know of it.
	Notes []api.Cause
}

// PreflightFailed answers [Preflight]: they have not.
type PreflightFailed struct {
	Attempt int
	Cause   Cause
	// Replan says that another plan may do, by what is known now.
	Replan bool
}

// Granted answers [AskGrant]: the node lends what the rank needs.
type Granted struct {
	Attempt, Rank int
	Node          api.NodeID
}

// Noted is what a person should know of an attempt.
type Noted struct {
	Attempt int
	Note    api.Cause
}

// GrantRefused answers [AskGrant]: the node does not. Busy says that it would
// later: somebody is in line before the rank.
type GrantRefused struct {
	Attempt, Rank int
	Busy          bool
	Cause         Cause
}

// RankAt is a rank that reached a phase other than its end.
type RankAt struct {
	Attempt, Rank int
	Phase         api.RankPhase
	// Handshake is how far it has come in joining; empty where that is not told.
	Handshake api.HandshakeState
	// Missing are the ranks that the group waits for, as the node of rank 0 has it.
	Missing []int
	// Prepared says that its node is ready to start it with the others.
	Prepared bool
	// Trouble is what its node says that keeps it from going on; empty while nothing does.
	Trouble Cause
}

// RankEnded is a rank of which its node knows that it has ended, or that it was
// not started and never will be.
type RankEnded struct {
	Attempt, Rank int
	// Exit is how it ended; nil where that is not known.
	Exit *api.Exit
	// At is when its program ended by itself, by its node's clock; zero where it was
	// ended, or that is not known.
	At api.Time
	// Reason is why, where the node knows better than its exit tells.
	Reason api.Reason
	// Message is the reason as one sentence.
	Message string
	// Final says that another attempt cannot help.
	Final bool
	// Handshake is how far it had come in joining; empty where that is not told.
	Handshake api.HandshakeState
	// Severed says that its side channel was closed on it before it ended.
	Severed bool
}

// RankFailing is a rank whose program has ended badly, and of which something may
// live for a moment: its [RankEnded], whose fields it has, follows. The others need not
// wait for that.
type RankFailing RankEnded

// EndAccepted answers [EndRanks]: the node has taken the order, and refuses every
// home of a lower epoch from now on. Its ranks may take their grace.
type EndAccepted struct {
	Attempt int
	Node    api.NodeID
}

// Renewed answers [Renew]: the node has renewed the leases.
type Renewed struct {
	Attempt int
	Node    api.NodeID
}

// Idled says that this node did nothing for the job for a while. What was counted against
// others meanwhile the caller counts anew before.
type Idled struct {
	For time.Duration
	Why string // what it did, as "slept or was stopped"
}

// NodeLost says that a node does not answer any more, or is about to.
type NodeLost struct {
	Node  api.NodeID
	Cause Cause
	// Since is when it answered last, by this node's clock; zero where that is not known.
	Since api.Time
}

// LinkLost says that something over which the attempt's ranks talk is gone, or is
// not what it was when the attempt began.
type LinkLost struct {
	Attempt int
	Cause   Cause
}

// Unlike says that the attempt's nodes turned out not to have the same, once all was
// prepared: its ranks are ended.
type Unlike struct {
	Attempt int
	Cause   Cause
}

// NodeBack says that it answers again.
type NodeBack struct{ Node api.NodeID }

// Printed says that a rank printed something since the last renewal.
type Printed struct{}

// StopAsked is somebody's wish to end the job. Reason is empty for a person's.
type StopAsked struct {
	By     api.Principal
	Kill   bool
	Reason api.Reason
}

// TimerFired says that a timer of [StartTimer] is due.
type TimerFired struct{ Timer TimerID }

// Sight is who belongs to the cluster and who of them is in sight, this node
// among them. In sight is whoever this node, or a node in its sight, reaches.
type Sight struct{ Members, Reached []api.NodeID }

// Held lists members of which the job's newest document is this home's and has
// the attempt. Before one is listed, [Seen] brought what it held of other homes.
type Held struct {
	Attempt int
	Epoch   uint64
	Nodes   []api.NodeID
}

// Seen is the job's document as some home wrote it.
type Seen struct{ Job api.Job }

// Voted answers [AskVotes]: more than half of the voters voted.
type Voted struct {
	// Before is the epoch of the home that is gone, and Epoch the new one.
	Before, Epoch uint64
	Votes         []api.Vote
}

// VoteRefused says that a voter gave its vote for an epoch to another node.
type VoteRefused struct{ Epoch uint64 }

// TakeOver is a person's wish that this node be the home of a job whose home is
// gone. The person answers for that: it is the one way to go on where neither
// the home nor any node of its attempt is in sight.
type TakeOver struct{ By api.Principal }

func (Signed) event()          {}
func (Planned) event()         {}
func (Unplaceable) event()     {}
func (HandOverRefused) event() {}
func (Preflighted) event()     {}
func (PreflightFailed) event() {}
func (Granted) event()         {}
func (Noted) event()           {}
func (GrantRefused) event()    {}
func (RankAt) event()          {}
func (RankEnded) event()       {}
func (RankFailing) event()     {}
func (EndAccepted) event()     {}
func (Renewed) event()         {}
func (Idled) event()           {}
func (NodeLost) event()        {}
func (LinkLost) event()        {}
func (Unlike) event()          {}
func (NodeBack) event()        {}
func (Printed) event()         {}
func (StopAsked) event()       {}
func (TimerFired) event()      {}
func (Sight) event()           {}
func (Held) event()            {}
func (Seen) event()            {}
func (TakeOver) event()        {}
func (Voted) event()           {}
func (VoteRefused) event()     {}
