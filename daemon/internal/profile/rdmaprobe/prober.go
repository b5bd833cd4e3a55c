package rdmaprobe

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

// methodProbe is the call by which a node has another one do its part.
const methodProbe = "peer.probe"

// Prober tests the cables of this node. It may be used by several goroutines.
type Prober struct {
	cfg  Config
	base context.Context
	stop context.CancelCauseFunc
	work sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	attempts int // numbers them: what is left of one in a side channel is nothing to the next
	seats    map[api.RankRef]*testRank
	visits   map[api.MeasureID]*visit
}

// New makes a prober and answers the nodes whose cables end here.
func New(cfg Config) *Prober {
	p := &Prober{cfg: cfg, seats: map[api.RankRef]*testRank{}, visits: map[api.MeasureID]*visit{}}
	p.base, p.stop = context.WithCancelCause(context.Background())
	cfg.Peers.HandleCall(gate.HandleCable(gate.Probe, func(p api.PeerProbeParams) api.LinkID { return p.Link }, p.handle))
	return p
}

// Close ends what runs, for this node and for others, and waits until it has.
func (p *Prober) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop(api.NewError(api.ReasonStopping, ""))
	p.work.Wait()
}

// Group is the process group of a rank of a test here, 0 while its worker does not
// run; false where the rank is none of a test.
func (p *Prober) Group(ref api.RankRef) (pid int, isOwn bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.seats[ref]
	if s == nil {
		return 0, false
	}
	return s.pid, true
}

// testRank finds a rank of a test here.
func (p *Prober) testRank(ref api.RankRef) (s *testRank, isOwn bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, isOwn = p.seats[ref]
	return s, isOwn
}

// Notify takes how far a rank of a test has come; false where it is none.
func (p *Prober) Notify(ref api.RankRef, now api.Handshake) (isOwn bool) {
	s, isOwn := p.testRank(ref)
	if isOwn {
		p.note(s, now)
	}
	return isOwn
}

// Fail takes why a rank of a test has to end; false where it is none.
func (p *Prober) Fail(ref api.RankRef, why *api.Error) (isOwn bool) {
	s, isOwn := p.testRank(ref)
	if isOwn {
		s.cancel(why)
	}
	return isOwn
}

// refOf names a rank of a test in the way of jobs: a job that is none.
func refOf(id api.MeasureID, attempt, rank int) api.RankRef {
	return api.RankRef{Job: api.JobID("j" + string(id)[1:]), Attempt: attempt, Rank: rank}
}

// Config is what a [Prober] needs.
type Config struct {
	// Node is this node.
	Node api.NodeID
	// Clock is what deadlines run on.
	Clock native.Clock
	// Peers are the nodes.
	Peers peer.Caller
	// Channels carry the side channels.
	Channels Channels
	// Ready gives the RDMA device of an end of this node that a test can use now, or
	// says why there is none. It opens nothing.
	Ready func(ctx context.Context, end api.LinkEnd) (device string, fault *api.Error)
	// Hold takes what the test of another node needs here, or says why it cannot be
	// had now.
	Hold func(ctx context.Context, from api.NodeID, id api.MeasureID, portNumber api.PortNumber) (release func(), err error)
	// Launch runs a worker to its end. [proc.Run] on the node's clock is one.
	Launch func(ctx context.Context, c proc.Command) proc.Record
	// Worker is the path of fulmen-rank, Env its whole environment but for what joins
	// it to its group. Without a worker, as on simulated Macs, a test ends when both
	// ends hold, and has no numbers.
	Worker string
	Env    []string
	// IsRehearsal says that the worker takes the place of one that measures: its
	// numbers count for nothing.
	IsRehearsal bool
	// Folder is where the workers' files are, for as long as they run.
	Folder string
	// Opened is called once for each test that opened the device of a receptacle.
	Opened func(api.PortNumber)
	// Used is told that a test has come so far that the device of a receptacle works,
	// and Killed that one was killed that had it open.
	Used, Killed func(api.PortNumber)
	// Name is what people call a node.
	Name func(api.NodeID) string
	// Log takes what a maintainer may want to know.
	Log *slog.Logger
}

// Channels carry the side channels of this node's ranks.
type Channels interface {
	// Open gives the address at which a rank finds its side channel, and carries it
	// for a time, until Close. nodes are those of the ranks.
	Open(rank api.RankRef, epoch uint64, nodes []api.NodeID, within time.Duration) (netip.AddrPort, error)
	// Spawned says that the rank's worker runs now.
	Spawned(rank api.RankRef)
	// Settle gives how far a rank has come whose worker has ended.
	Settle(rank api.RankRef) (api.Handshake, bool)
	// Close ends it.
	Close(rank api.RankRef)
}

const (
	// joinWithin is how long the two ranks may take to find each other: JACCL itself
	// has no limit there.
	joinWithin = 15 * time.Second
	// silence is how long a worker may say nothing: it waits that long for its
	// partner, and a message that does not come is waited for in vain.
	silence = 20 * time.Second
	// workWithin is the worker's own deadline: it can say in what it was. The process
	// is ended a little later.
	workWithin = 40 * time.Second
	overWithin = workWithin + 5*time.Second
	// holdWithin bounds the answer of the other end to holding, releaseWithin that to
	// giving back, and runWithin that to running, the end of its worker included.
	holdWithin    = 10 * time.Second
	releaseWithin = 15 * time.Second
	runWithin     = overWithin + 10*time.Second
	// visitWithin is how long an end is held for another node at most.
	visitWithin = runWithin + holdWithin
)

const (
	// smallest and largest are the sizes of messages, which double: the round trip is
	// that of the smallest.
	smallest = "64"
	largest  = "67108864"
	// perSize is about how long each of them is timed.
	perSize = 150 * time.Millisecond
)
