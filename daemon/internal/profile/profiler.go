package profile

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
	"fulmen/native/waker"
)

// Profiler measures this node's GPU and the paths to its peers. It may be used by
// several goroutines.
type Profiler struct {
	cfg  Config
	stop context.CancelCauseFunc // ends every task
	base context.Context
	runs sync.WaitGroup
	wake waker.Waker
	// judging has conditions of paths raised and cleared in the order in which they
	// were found.
	judging sync.Mutex

	mu       sync.Mutex
	closed   bool
	last     api.GPUProfile             // the value of the document
	paths    map[string]api.LinkProfile // the values of the documents, by name
	stamps   map[api.Key]stamp
	tasks    map[api.Key]*task       // what is being measured
	all      []*run                  // in the order of their start
	requests map[requestKey]*request // of other nodes
	long     map[string]bool         // paths whose last result is of the long measurement
	seen     plugged
	held     map[api.Key]time.Duration // until when something unasked is not tried again, on the clock's Boot
	madeWith madeWith
	counts   map[Count]uint64
}

// New makes a profiler, which measures nothing by itself before Run.
func New(cfg Config) *Profiler {
	cfg.Duration = cmp.Or(cfg.Duration, DefaultDuration)
	p := &Profiler{
		cfg: cfg, wake: waker.New(), paths: map[string]api.LinkProfile{}, stamps: map[api.Key]stamp{},
		tasks: map[api.Key]*task{}, requests: map[requestKey]*request{}, long: map[string]bool{}, held: map[api.Key]time.Duration{}, counts: map[Count]uint64{},
	}
	if cfg.Last != nil {
		p.last = *cfg.Last
	}
	maps.Copy(p.paths, cfg.LastPaths)
	p.base, p.stop = context.WithCancelCause(context.Background())
	cfg.Peers.HandleCall(gate.HandleMember(gate.Profile, p.handleProfile))
	return p
}

// Close ends what is being measured and waits until its worker is gone, which
// takes a few seconds at most. Nothing is measured after it.
func (p *Profiler) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop(api.NewError(api.ReasonStopping, ""))
	p.runs.Wait()
}

// Recheck has Run look again at what is due, after something became another:
// who watches, the graph, the circumstances. Calling it for nothing is harmless.
func (p *Profiler) Recheck() { p.wake.Wake() }

// now is the wall-clock time, for people.
func (p *Profiler) now() api.Time { return api.TimeOf(p.cfg.Clock.Now()) }

// gpuKey is the document of this node's GPU.
func (p *Profiler) gpuKey() api.Key { return api.Key{Node: p.cfg.Node, Kind: api.KindGPUProfile} }

// pathKey is the document of a path of this node.
func (p *Profiler) pathKey(name string) api.Key {
	return api.Key{Node: p.cfg.Node, Kind: api.KindLinkProfile, Name: name}
}

// Count is what measurements of this node are counted by.
type Count struct {
	// Kind is what was measured.
	Kind api.Kind
	// IsAsked says that somebody asked for it.
	IsAsked bool
	// State is how it ended.
	State api.MeasureState
}

// Counts is how many measurements of this node's subjects have ended since the
// daemon started.
func (p *Profiler) Counts() map[Count]uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// Conditions is where a measurement tells what is wrong with this node.
type Conditions interface {
	// Hold says whether a condition holds on a subject, and what is particular of it.
	Hold(code api.Reason, subject string, holds bool, detail string)
	// Only says that it holds on these subjects, with their details, and on no other.
	Only(code api.Reason, details map[string]string)
}

// Launcher runs a worker to its end. [proc.Run] on the node's clock is one.
type Launcher func(ctx context.Context, c proc.Command) proc.Record

// Circumstances tells under which conditions this node is now, and why it
// cannot tell the rest, by the fields' names in JSON. MLX and BLAS are the
// worker's to tell.
type Circumstances func(ctx context.Context) (api.MeasureConditions, map[string]api.Reason)

// Config is what a [Profiler] needs. Readers return at once and do not call back.
type Config struct {
	// Node is this node.
	Node api.NodeID
	// Clock is the node's.
	Clock native.Clock
	// Documents and Conditions publish.
	Documents  ledger.Publisher
	Conditions Conditions
	// Circumstances tells those of a measurement.
	Circumstances Circumstances
	// Resolve finds the node that a person means.
	Resolve func(api.NodeRef) (api.NodeID, error)
	// Turn has a measurement wait until the node is free for it.
	Turn Turn
	// Launch runs workers.
	Launch Launcher
	// Worker is the path of fulmen-rank, Env its whole environment.
	Worker string
	Env    []string
	// Duration is about how long to measure; DefaultDuration where zero.
	Duration time.Duration
	// Silence is as in proc.Command.
	Silence time.Duration
	// Last is the profile from before the daemon started, if there is one, and
	// LastPaths are those of paths, by name.
	Last      *api.GPUProfile
	LastPaths map[string]api.LinkProfile
	// Log takes what a maintainer may want to know.
	Log *slog.Logger

	// Peers measure what is theirs.
	Peers peer.Caller
	// Reached lists the nodes in sight.
	Reached func() []api.NodeID
	// Paths lists the ways that this node measures, as they are now.
	Paths func() []Path
	// Look has Paths list what the documents have since the graph was drawn last: whoever
	// asks for a path may know it from there. It may be nil.
	Look func()
	// Subjects finds the paths that a person means.
	Subjects func(api.MeasureLinkParams) ([]api.Key, error)
	// Probe measures a path over sockets.
	Probe Probe
	// ProbeRDMA tests a cable over RDMA.
	ProbeRDMA ProbeRDMA
	// Recorded, where set, gives what a simulation records in place of measuring, and
	// Simulated takes the documents of that, which say that they are simulated.
	Recorded  func() Recording
	Simulated ledger.Publisher
	// Wanted reports whether somebody watches this node's documents of a kind.
	Wanted func(api.Kind) bool
	// Obstacle says why nothing should be measured on this node now; nil = nothing
	// speaks against it. It may take a moment.
	Obstacle func(context.Context) *api.Error
	// System tells which system and which MLX there are now; empty where not known.
	System func() (osBuild, mlx string)
	// TTL tells how old results may be.
	TTL func() (gpu, socket time.Duration)
	// Name is what people call a node.
	Name func(api.NodeID) string
}

const (
	// DefaultDuration is about how long a GPU is measured.
	DefaultDuration = 10 * time.Second
	// Kept is how long a measurement that has ended can be looked up.
	Kept = time.Hour
	// maxKept is how many of those there are at most.
	maxKept = 100
	// startUp is what a worker may take beside measuring: loading MLX and
	// compiling kernels the first time, on a busy machine.
	startUp = 2 * time.Minute
	// turnWithin is how long something that somebody asked for waits in all for its
	// turn; what is measured unasked waits as long as it is wanted.
	turnWithin = 10 * time.Minute
)
