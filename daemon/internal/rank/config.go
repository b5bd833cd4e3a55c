package rank

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/rank/prepare"
	"fulmen/native"
)

// Config is what the node's side of ranks needs.
type Config struct {
	// Node is this node.
	Node api.NodeID
	// Cluster is the one that it is in.
	Cluster func() api.ClusterID
	// Clock is what leases and deadlines run on.
	Clock native.Clock
	// Peers takes the handlers of peer.start, peer.spawn, peer.renew, peer.end and peer.listen.
	Peers peer.Caller
	// Jobs reads the documents of jobs.
	Jobs Jobs
	// Deleted reports whether a job is known to have been deleted, also before it is
	// known what else there is; nil = none is.
	Deleted func(api.JobID) bool
	// Documents takes the rank documents.
	Documents ledger.Publisher
	// Grants are the node's.
	Grants Grants
	// RestoreGrant takes up the grant of a rank that ran on while the daemon did not.
	RestoreGrant func(Grant) error
	// Policy says as whom a principal's ranks run here.
	Policy Policy
	// Preparer finds accounts and programs.
	Preparer Preparer
	// Fetch copies the job's folder to this node, where the spec wants that, and
	// gives the place in which the program then starts; nil where nothing can.
	Fetch func(ctx context.Context, job api.JobID, spec api.JobSpec, account prepare.Account, plan api.Plan) (directory string, err error)
	// Supervisor runs the shims.
	Supervisor native.Supervisor
	// ShimAsAccount has the supervisor run the shim itself as the rank's account,
	// as launchd should; otherwise the shim, as the daemon, becomes that account
	// for the program.
	ShimAsAccount bool
	// Program is the path of the daemon's own program, which is the shim's too.
	Program string
	// Folder holds a folder for every job.
	Folder string
	// Runtime holds a folder for every rank with its sockets and its host file.
	// Its path is short, and every account can pass through it.
	Runtime string
	// Listen finds a free TCP port at each address; nil = by binding them.
	Listen func(ctx context.Context, addresses []netip.Addr) ([]netip.AddrPort, error)
	// Preparing bounds copying the job's folder, preparing, and waiting for the job's
	// other ranks where the spec does not; nil = api.DefaultPreparing.
	Preparing func() time.Duration
	// Starting bounds the same of a job that has none of that, where the spec does not;
	// nil = api.DefaultStarting.
	Starting func() time.Duration
	// Grace is between SIGTERM and SIGKILL when a lease runs out, where the spec
	// does not say; nil = api.DefaultGrace.
	Grace func() time.Duration
	// Channels carries the side channels of JACCL.
	Channels Channels
	// Handshake bounds the time until all ranks have joined where the spec does not
	// say; nil = api.DefaultHandshake.
	Handshake func() time.Duration
	// FailedGrace is between SIGTERM and SIGKILL of a rank that this node ends for a
	// reason of its own; nil = api.DefaultFailedGrace.
	FailedGrace func() time.Duration
	// Spawned, where set, is told of every program that runs, once.
	Spawned func(api.RankRef)
	// Ended, where set, is told of every rank that has ended, once.
	Ended func(api.Rank)
	// OutputLost, where set, is told why the disk does not take what a rank prints, each
	// time that its shim says so.
	OutputLost func(rank api.RankRef, problem string)
	// Changed, where set, is told that Live may give something else.
	Changed func()
	// Log takes what a maintainer may want to know.
	Log *slog.Logger
}

// Jobs reads documents: a ledger.
type Jobs interface {
	// List is the documents that the filter covers, deletions among them where it
	// says so.
	List(ledger.Filter) []*ledger.Record
	// Named is what nodes hold of a kind by a name, with deletions where isDeleted.
	Named(kind api.Kind, name string, isDeleted bool) []*ledger.Record
}

// Grants is what of the node's arbiter ranks need. A call with an epoch tells
// the arbiter that epoch.
type Grants interface {
	// Occupy says that a process is about to live in a rank's grant, and reports
	// whether the grant holds.
	Occupy(rank api.RankRef, epoch uint64) bool
	// Vacate says that it has ended.
	Vacate(rank api.RankRef)
	// Renew renews the leases of an attempt's grants; 0 = by as much as before.
	Renew(job api.JobID, attempt int, epoch uint64, lease time.Duration) (int, error)
	// Epoch is the highest epoch of a job that the arbiter has heard of.
	Epoch(job api.JobID) uint64
}

// Grant is what a rank that runs on holds of the node.
type Grant struct {
	// Rank is whose it is.
	Rank api.RankRef
	// Epoch is the job's.
	Epoch uint64
	// Principal is for whom.
	Principal api.Principal
	// GPU, MemoryBytes and Receptacles are what is lent.
	GPU         api.GPUShare
	MemoryBytes int64
	Receptacles []api.Receptacle
	// Lease is how long it holds unrenewed.
	Lease time.Duration
}

// Policy says what this node lends to whom. It answers from memory.
type Policy interface {
	// Allows gives the account as which a principal's ranks run here, or the
	// reason why they do not.
	Allows(p api.Principal) (account string, reason api.Reason)
}

func (c *Config) preparing(spec api.JobSpec) time.Duration {
	return duration(spec.Deadlines.PreparingS, c.Preparing, api.DefaultPreparing)
}

func (c *Config) starting(spec api.JobSpec) time.Duration {
	return duration(spec.Deadlines.StartingS, c.Starting, api.DefaultStarting)
}

func (c *Config) grace(spec api.JobSpec) time.Duration {
	return duration(spec.Deadlines.GraceS, c.Grace, api.DefaultGrace)
}

// duration is what a spec says, else the configuration, else the default.
func duration(seconds *float64, configured func() time.Duration, otherwise time.Duration) time.Duration {
	switch {
	case seconds != nil:
		return secondsOf(*seconds)
	case configured != nil:
		return configured()
	}
	return otherwise
}

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Preparer finds on this node what a program needs. All that touches a path
// from a spec is done as the account.
type Preparer interface {
	// Account finds a local account by its name.
	Account(name string) (prepare.Account, error)
	// Resolve finds out what is executed, and in what surroundings.
	Resolve(ctx context.Context, account prepare.Account, program api.Program, environment map[string]string) (prepare.Resolved, error)
	// Prepare runs the spec's preparation, unless that was done for the same
	// inputs before. What it prints goes to log.
	Prepare(ctx context.Context, account prepare.Account, program api.Program, log io.Writer) error
}
