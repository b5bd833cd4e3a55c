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
	// Name calls a node as people do.
	Name func(api.NodeID) string
	// Cluster is the one that it is in.
	Cluster func() api.ClusterID
	// Clock is what leases and deadlines run on.
	Clock native.Clock
	// Peers takes the handlers of peer.start, peer.spawn, peer.renew, peer.end and peer.listen.
	Peers peer.Caller
	// Jobs reads the documents of jobs.
	Jobs Jobs
	// Deleted reports whether a job is known to have been deleted, also before it is
	// known what else there is.
	Deleted func(api.JobID) bool
	// Documents takes the rank documents.
	Documents ledger.Publisher
	// Grants are the node's.
	Grants Grants
	// RestoreGrant takes up the grant of a rank that ran on while the daemon did not.
	RestoreGrant func(held api.PeerGrantParams, lease time.Duration) error
	// Policy gives the account that a principal's ranks run as here, from memory.
	Policy prepare.Policy
	// Preparer finds accounts and programs.
	Preparer Preparer
	// Fetch copies the job's folder to this node, where the spec wants that, and
	// gives the place in which the program then starts.
	Fetch func(ctx context.Context, job api.JobID, spec api.JobSpec, account prepare.Account, plan api.Plan) (directory string, err error)
	// Model finds the job's model here, at the revision of the plan.
	Model func(ctx context.Context, spec api.JobSpec, account prepare.Account, revision string) api.FoundModel
	// FetchModel copies it from another node, at that revision, and says how far that is.
	FetchModel func(ctx context.Context, spec api.JobSpec, account prepare.Account, from api.NodeID, revision string, moved func(api.ModelProgress)) error
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
	// Times are what the configuration and a job's spec bound.
	Times func(api.JobSpec) Times
	// Channels carries the side channels of JACCL.
	Channels Channels
	// Spawned is called once for every program that runs.
	Spawned func(api.RankRef)
	// Ended is called once for every rank that has ended.
	Ended func(api.Rank)
	// OutputLost is told why the disk does not take what a rank prints, each time that its
	// shim says so.
	OutputLost func(rank api.RankRef, problem string)
	// Changed is told that Live may give something else.
	Changed func()
	// Carried counts what an RDMA device has carried; nil where the system counts nothing.
	Carried func(device string) (uint64, error)
	// Activity is what the processes of a rank have done so far; nil = nobody looks.
	Activity func(group int) (native.Activity, error)
	// GPUUse is the share of the GPU's time that is used now; nil where the system does not tell.
	GPUUse func() (float64, error)
	// Stacks is what the threads of a process are in; nil where nothing tells.
	Stacks func(ctx context.Context, process int) (string, error)
	// Log takes what a maintainer may want to know.
	Log *slog.Logger
}

// Jobs reads the documents of jobs; [ledger.Ledger] implements it.
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
	// Occupy says that one more process is about to live in a rank's grant, and reports
	// whether the grant holds.
	Occupy(rank api.RankRef, epoch uint64) bool
	// Vacate says that one of them has ended.
	Vacate(rank api.RankRef)
	// Renew renews the leases of an attempt's grants; 0 = by as much as before.
	Renew(job api.JobID, attempt int, epoch uint64, lease time.Duration) (int, error)
	// Epoch is the highest epoch of a job that the arbiter has heard of.
	Epoch(job api.JobID) uint64
}

// Times bound the steps of a rank's life.
type Times struct {
	// Preparing bounds copying the job's folder and model, preparing, and waiting for the
	// job's other ranks; Starting the same of a job that has none of that.
	Preparing, Starting time.Duration
	// Handshake bounds the time until all ranks have joined.
	Handshake time.Duration
	// Grace is between SIGTERM and SIGKILL when a lease runs out, FailedGrace when this
	// node ends a rank for a reason of its own.
	Grace, FailedGrace time.Duration
}

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
