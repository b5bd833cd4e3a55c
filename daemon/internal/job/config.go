package job

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/beat"
	"fulmen/daemon/internal/job/phase"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/placement"
	"fulmen/native"
)

// Documents writes this node's job documents. They are durable when Put returns.
type Documents interface {
	// Put publishes a document of this node.
	Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error
	// DeleteJob ends a job's document; one that is not there stays so. Homes prove to
	// others that this node was the job's home.
	DeleteJob(job api.JobID, homes []api.Succession) error
}

// Memory keeps over a restart what is remembered of jobs whose documents may be gone.
type Memory interface {
	// LoadJobs gives all of it.
	LoadJobs() (map[api.JobID]Remembered, error)
	// SaveJob keeps one; it is durable when SaveJob returns.
	SaveJob(api.JobID, Remembered) error
	// DropJobs forgets some.
	DropJobs([]api.JobID) error
}

// Remembered is what a node remembers of a job.
type Remembered struct {
	// Until is when its spec counts nowhere any more, and it may be forgotten.
	Until api.Time `json:"until"`
	// KeptBy is the submitter's node of a job whose spec never expires: it is remembered
	// while that node is a member.
	KeptBy api.NodeID `json:"kept_by,omitzero"`
	// Gone says that it was deleted: nothing brings it back.
	Gone bool `json:"gone,omitzero"`
	// Ended says that it has ended: nothing of it is started again.
	Ended bool `json:"ended,omitzero"`
	// Voted is the highest epoch for which this node gave its vote, and VotedFor to whom.
	Voted    uint64     `json:"voted,omitzero"`
	VotedFor api.NodeID `json:"voted_for,omitzero"`
	// Bound is the epoch of a take-over by a person elsewhere that a person here said
	// too, and BoundTo the home.
	Bound   uint64     `json:"bound,omitzero"`
	BoundTo api.NodeID `json:"bound_to,omitzero"`
}

// Presence is who belongs to the cluster and who is there. Its methods answer from memory.
type Presence interface {
	// Members are all members.
	Members() []api.NodeID
	// Reached are those in sight, this node among them.
	Reached() []api.NodeID
	// Watch calls f after one of the two changed, until stop is called.
	Watch(f func()) (stop func())
}

// Access says which other principals a person of this node may act for.
type Access interface {
	// May reports whether by, of this node, may stop, see and feed a job of a
	// principal. It is not asked about a principal's own jobs.
	May(by, job api.Principal) bool
}

// Planner finds nodes for jobs.
type Planner interface {
	// Plan says where a job would run now. mlx is what preflights found of its MLX; nil
	// before the first. models is what nodes have of its model, line what is to be counted with beside what is lent. Hosts hold addresses without ports. An *api.Error says why the
	// job has no place; with code invalid it never will.
	Plan(ctx context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX, models map[api.NodeID]api.FoundModel, line placement.Line) (api.Plan, error)
	// Explain plans alike and gives the whole result, with what stands in the way.
	Explain(ctx context.Context, spec api.JobSpec, mlx map[api.NodeID]api.ProgramMLX, models map[api.NodeID]api.FoundModel, line placement.Line) (api.JobPlanResult, error)
}

// Config is what the controller needs. Functions answer from memory.
type Config struct {
	// Node is this node, Key its key, by which it vouches for its people's specs.
	Node api.NodeID
	Key  ed25519.PrivateKey
	// Electors tells who is a member, and of what cluster.
	Electors api.Electors
	// Roster are the heads of the roster now, for specs that are signed.
	Roster func() []string
	// Memory keeps what is remembered over a restart.
	Memory Memory
	// Clock is what every deadline runs on.
	Clock native.Clock
	// Peers are the nodes to call.
	Peers peer.Caller
	// Ledger is where documents are read, Documents where this node's are written.
	Ledger    *ledger.Ledger
	Documents Documents
	// Settle has on disk when it returns what the ledger took over of other nodes.
	Settle func() error
	// Presence is who is there.
	Presence Presence
	// Access says which other principals a person of this node may act for.
	Access Access
	// Beats carries beats between the nodes of jobs.
	Beats beat.Link
	// Planner finds nodes.
	Planner Planner
	// UseChanged is called, under a lock, when what [Jobs.KeepsAwake] says may have changed; nil = nobody asks.
	UseChanged func()
	// Sharing is what a node lends, and to whom.
	Sharing func(api.NodeID) (api.Sharing, bool)
	// GetModel gets a model from Hugging Face to this node, for a person of it, and says how
	// far that is; nil = nothing is got.
	GetModel func(ctx context.Context, who api.Principal, sel api.ModelSelect, moved func(api.ModelProgress)) error
	// Cables are those of the cluster's graph as it is now.
	// [Jobs.LinksChanged] says when to look again.
	Cables func() []api.Cable
	// Unfit says which MLX, as a preflight found them, do not fit a plan, and what a
	// person should know of those that do.
	Unfit func(plan api.Plan, mlx map[api.NodeID]api.ProgramMLX) (faults, notes []api.Cause)
	// Compare says what is in the way on nodes that answered a preflight, and what
	// differs between them.
	Compare func(answers []api.Preflight, allowMixed bool) []api.Cause
	// Name is what people call a node.
	Name func(api.NodeID) string
	// Find finds a node by what a person typed.
	Find func(api.NodeRef) (api.NodeID, error)
	// Forget ends and forgets what this node has of a job that was deleted: ranks,
	// their documents and files. Output is the policy; empty = the spec's. It may be
	// called again for the same job, also after a restart, and may wait.
	Forget func(ctx context.Context, job api.JobID, output api.OutputPolicy)
	// Quiet waits until nobody uses what a rank of this node serves, or ctx has ended; nil
	// waits for nothing.
	Quiet func(ctx context.Context, rank api.RankRef)
	// Bind has the ranks of this node follow a job's spec that was signed anew, by its
	// hash.
	Bind func(job api.JobID, sha256 string)
	// Times and BeatTimes are read when used.
	Times     func() phase.Times
	BeatTimes func() beat.Times
	// PreflightWithin is how long nodes get to look for a program.
	PreflightWithin func() time.Duration
	// Keep is how many ended jobs a home keeps; 0 = DefaultKeep.
	Keep int
	// Log takes what nobody is told otherwise.
	Log *slog.Logger
}

// DefaultKeep is how many ended jobs a home keeps.
const DefaultKeep = 200

// How long calls may take that no configuration bounds.
const (
	planWithin    = 30 * time.Second      // one look for nodes
	callWithin    = 5 * time.Second       // a question that is answered from memory
	requestWithin = 10 * time.Second      // a request that the home puts on disk first
	callAgain     = 50 * time.Millisecond // between calls of a node that has no path yet
	startSettle   = time.Second           // what an order to end waits for one to start
	retryPlan     = time.Second           // after a plan that a call spoiled; doubled up to retryPlanMax
	retryPlanMax  = 30 * time.Second
	retryTaken    = 250 * time.Millisecond // after another job was quicker; doubled up to retryPlanMax
	planSettle    = 100 * time.Millisecond // hints within it make one plan
	planRest      = 100 * time.Millisecond // after which the first hint makes one sooner
	planSoon      = 10 * time.Millisecond
	planTurn      = 25 * time.Millisecond // for the grants of the job before to be seen
	releaseAgain  = time.Second           // what a node may take to look at a request that was called off
	retryPut      = time.Second           // after a document that could not be written
	retryHold     = time.Second           // after a member that did not answer
)
