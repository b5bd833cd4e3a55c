package profile

import (
	"context"
	"maps"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
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
	tasks    map[api.Key]*task // what is being measured
	all      []*run            // in the order of their start
	wishes   map[wishKey]*wish // of other nodes
	long     map[string]bool   // paths whose last result is of the long measurement
	seen     plugged
	held     map[api.Key]time.Duration // until when something unasked is not tried again, on the clock's Boot
	madeWith madeWith
	raised   map[pathCondition]bool // that hold
	counts   map[Count]uint64
}

// New makes a profiler, which measures nothing by itself before Run.
func New(cfg Config) *Profiler {
	p := &Profiler{
		cfg: cfg.withDefaults(), wake: waker.New(), paths: map[string]api.LinkProfile{}, stamps: map[api.Key]stamp{},
		tasks: map[api.Key]*task{}, wishes: map[wishKey]*wish{}, raised: map[pathCondition]bool{}, long: map[string]bool{}, held: map[api.Key]time.Duration{}, counts: map[Count]uint64{},
	}
	if cfg.Last != nil {
		p.last = *cfg.Last
	}
	maps.Copy(p.paths, cfg.LastPaths)
	p.base, p.stop = context.WithCancelCause(context.Background())
	if cfg.Peers != nil {
		cfg.Peers.HandleCall(gate.HandleMember(gate.Profile, p.handleProfile))
	}
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
	all := make(map[Count]uint64, len(p.counts))
	for c, n := range p.counts {
		all[c] = n
	}
	return all
}
