package phase

import (
	"time"

	"fulmen/daemon/api"
)

// Event is something that happened to a job. Events about an attempt other than
// the current one, and those that do not fit the state, change nothing.
type Event interface {
	// home takes the event at the node that acts for the job.
	home(*step)
}

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
type Unplaceable struct {
	Cause Cause
	// Wanted is what it waits for; nil where there is no place on the cluster at all.
	Wanted *api.Wanted
	// Early says that it is not to be placed yet: the time for placing has not begun.
	Early bool
}

// Preempted says that the job's ranks are to end for another job, which the cause names. The job waits then.
type Preempted struct{ Cause Cause }

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
// later: somebody is in line before the rank, or has what it needs.
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
	// Ready says that its readiness probe passes.
	Ready bool
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

// NodeBack says that a lost node answers again.
type NodeBack struct{ Node api.NodeID }

// Printed says that a rank printed something since the last renewal.
type Printed struct{}

// StopAsked is somebody's request to end the job. Reason is empty for a person's.
type StopAsked struct {
	By     api.Principal
	Kill   bool
	Reason api.Reason
}

// TimerFired says that a timer of [StartTimer] is due.
type TimerFired struct{ Timer TimerID }

// Presence is who belongs to the cluster and who of them is in sight, this node
// among them. In sight is whoever this node, or a node in its sight, reaches.
type Presence struct{ Members, Reached []api.NodeID }

// Held lists members of which the job's newest document is this home's and has
// the attempt. Before one is listed, [Seen] brought what it held of other homes.
type Held struct {
	Attempt int
	Epoch   uint64
	Nodes   []api.NodeID
}

// Seen is the job's document as some home wrote it.
type Seen struct{ Job api.Job }

// Voted answers [AskVotes], at a follower: more than half of the voters voted.
type Voted struct {
	// Before is the epoch of the home that is gone, and Epoch the new one.
	Before, Epoch uint64
	Votes         []api.Vote
}

// VoteRefused says that a voter gave its vote for an epoch to another node.
type VoteRefused struct{ Epoch uint64 }

// TakeOver is a person's request that this node be the home of a job whose home is
// gone. The person answers for that: it is the one way to go on where neither
// the home nor any node of its attempt is in sight.
type TakeOver struct{ By api.Principal }

// Effect is something to be done, in the order given. All but [PutDocument] may
// fail; what came of them is told by an event.
type Effect interface{ effect() }

// PutDocument publishes the job's document and makes it durable. It comes before
// every effect that rests on it.
type PutDocument struct{ Job api.Job }

// AskPlan looks for nodes: answered by [Planned] or [Unplaceable]. Later says that others
// were quicker with the last plan, of which may not all be known yet.
type AskPlan struct{ Later bool }

// HandOver makes another node the home, by an offer under the epoch after the job's. It is
// repeated, which is harmless, until that node's own document has come ([Seen]): one that
// says yes and then loses its database keeps nothing, and nobody would keep the job.
type HandOver struct {
	To    api.NodeID
	Job   api.Job
	Offer api.Succession
}

// AskVotes asks the voters that this node be the home of a job whose home is gone, under
// an epoch: answered by [Voted], or by [VoteRefused] where one voted for another node.
type AskVotes struct {
	Job   api.Job
	Epoch uint64
}

// Preflight checks all nodes of the plan at once.
type Preflight struct {
	Attempt int
	Plan    api.Plan
}

// AskGrant asks a node for what the plan gives its ranks, by the first of them. Wait is how long to
// stand in line; 0 = answer at once.
type AskGrant struct {
	Attempt int
	Epoch   uint64
	Rank    api.PlanRank
	Wait    time.Duration
}

// StartRank starts a rank that has its grant. One that is to wait is prepared, and
// runs at [SpawnRank].
type StartRank struct {
	Attempt int
	Epoch   uint64
	Rank    int
	Node    api.NodeID
	Lease   time.Duration
	Wait    bool
}

// SpawnRank has a rank run that was prepared. It may come more than once.
type SpawnRank struct {
	Attempt int
	Epoch   uint64
	Rank    int
	Node    api.NodeID
}

// Renew renews the leases of the attempt's ranks and grants on a node. The
// caller gives up on an answer after one renewal period.
type Renew struct {
	Attempt int
	Epoch   uint64
	Node    api.NodeID
	Lease   time.Duration
}

// EndRanks ends the attempt's ranks on a node, those not started yet included.
type EndRanks struct {
	Attempt int
	Epoch   uint64
	Node    api.NodeID
	Reason  api.Reason
	Message string // the home's own; empty where the reason's does
	Grace   time.Duration
}

// Release gives a rank's grant back, or leaves the line.
type Release struct {
	Attempt int
	Epoch   uint64
	Rank    int
	Node    api.NodeID
}

// ForwardStop tells the new home that a person wants the job ended.
type ForwardStop struct {
	To   api.NodeID
	Stop api.StopRequest
}

// StartTimer asks for a [TimerFired] after a time, sleep included.
type StartTimer struct {
	Timer TimerID
	After time.Duration
}

// StopTimer forgets a timer; a report of it that is under way is ignored.
type StopTimer struct{ Timer TimerID }

// NotifyTerminal says that the job has ended; it comes once in a job's life.
type NotifyTerminal struct {
	Phase    api.JobPhase
	ExitCode int
}

func (PutDocument) effect()    {}
func (AskPlan) effect()        {}
func (HandOver) effect()       {}
func (AskVotes) effect()       {}
func (Preflight) effect()      {}
func (AskGrant) effect()       {}
func (StartRank) effect()      {}
func (SpawnRank) effect()      {}
func (Renew) effect()          {}
func (EndRanks) effect()       {}
func (Release) effect()        {}
func (ForwardStop) effect()    {}
func (StartTimer) effect()     {}
func (StopTimer) effect()      {}
func (NotifyTerminal) effect() {}

// TimerKind is what a timer is for. At most one of a kind runs.
type TimerKind string

// The kinds of timers.
const (
	// TimerPlacing ends a job that finds no place.
	TimerPlacing TimerKind = "placing"
	// TimerHandOver repeats a hand-over that was not answered.
	TimerHandOver TimerKind = "hand_over"
	// TimerPreparing bounds the preparation of all nodes.
	TimerPreparing TimerKind = "preparing"
	// TimerStarting bounds starting, from when all nodes are prepared.
	TimerStarting TimerKind = "starting"
	// TimerHandshake bounds the handshake.
	TimerHandshake TimerKind = "handshake"
	// TimerRun bounds the time after it.
	TimerRun TimerKind = "run"
	// TimerSilence ends a job that prints nothing.
	TimerSilence TimerKind = "silence"
	// TimerRenew is when leases are renewed next.
	TimerRenew TimerKind = "renew"
	// TimerLease is when no rank can have outlived its lease.
	TimerLease TimerKind = "lease"
	// TimerEnd repeats the order to end to who did not report an end.
	TimerEnd TimerKind = "end"
	// TimerBackoff is when the next attempt is due.
	TimerBackoff TimerKind = "backoff"
	// TimerVotes is when votes are asked for again.
	TimerVotes TimerKind = "votes"
	// TimerHomeLost is when a home that is gone may be replaced.
	TimerHomeLost TimerKind = "home_lost"
)

// TimerID names one start of a timer, so that the report of an earlier one is
// not taken for it.
type TimerID struct {
	Kind TimerKind
	N    uint64
}
