package phase

import (
	"time"

	"fulmen/daemon/api"
)

// Effect is something to be done, in the order given. All but [PutDocument] may
// fail; what came of them is told by an event.
type Effect interface{ effect() }

// PutDocument publishes the job's document and makes it durable. It comes before
// every effect that rests on it.
type PutDocument struct{ Job api.Job }

// AskPlan looks for nodes: answered by [Planned] or [Unplaceable].
type AskPlan struct{}

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

// AskGrant asks a rank's node for what the plan gives it. Wait is how long to
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

// TellTerminal says that the job has ended; it comes once in a job's life.
type TellTerminal struct {
	Phase    api.JobPhase
	ExitCode int
}

func (PutDocument) effect()  {}
func (AskPlan) effect()      {}
func (HandOver) effect()     {}
func (AskVotes) effect()     {}
func (Preflight) effect()    {}
func (AskGrant) effect()     {}
func (StartRank) effect()    {}
func (SpawnRank) effect()    {}
func (Renew) effect()        {}
func (EndRanks) effect()     {}
func (Release) effect()      {}
func (ForwardStop) effect()  {}
func (StartTimer) effect()   {}
func (StopTimer) effect()    {}
func (TellTerminal) effect() {}

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
