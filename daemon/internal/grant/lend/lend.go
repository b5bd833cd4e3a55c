package lend

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/grant"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// gpuReadWithin bounds the reading of that use before somebody is put in line.
const gpuReadWithin = 300 * time.Millisecond

// Peers answers the calls of other nodes.
type Peers interface {
	// HandleCall sets who answers the calls of a door.
	HandleCall(h gate.Handler)
}

// Facts reads this machine.
type Facts interface {
	// Snapshot reads these areas now.
	Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error)
}

// Config is what a [Lender] needs. Readers return at once.
type Config struct {
	Self      api.NodeID
	Clock     native.Clock
	Ledger    *ledger.Ledger
	Documents ledger.Publisher
	Facts     Facts
	Peers     Peers
	// Policy is what is lent to whom, and Sharing its rules.
	Policy  grant.Policy
	Sharing func() api.Sharing
	// IsChanging reports whether this Mac's network is being changed for RDMA.
	IsChanging func() bool
	// Device says why the RDMA devices of receptacles cannot be lent, and for what it
	// waits; empty where they can. It may take a moment.
	Device func(ctx context.Context, portNumbers []api.PortNumber) (why api.Reason, on string)
	// Obstacle says why nothing should be measured here now; nil = nothing.
	Obstacle func(context.Context) *api.Error
	// Ranks are those that run here.
	Ranks func() []api.RankRef
	// Job is the spec of a job that counts.
	Job func(api.JobID) (api.JobSpec, bool)
	// GPUWait and Lease are the arbiter's.
	GPUWait func() time.Duration
	Lease   time.Duration
	// Name is what people call a node.
	Name func(api.NodeID) string
	Log  *slog.Logger
}

// Lender is the arbiter with what it reads of this node, and who calls it.
type Lender struct {
	*grant.Arbiter
	cfg Config

	load  grant.GPULoad // of other programs
	mu    sync.Mutex
	watch *ledger.Watcher // while somebody waits for the GPU
}

// New makes the one arbiter of the node, and answers peer.grant and peer.release with
// it.
func New(c Config) *Lender {
	g := &Lender{cfg: c}
	g.Arbiter = grant.New(grant.Config{
		Self: c.Self, Clock: c.Clock, Documents: c.Documents, Policy: allowed{c.Policy, c.IsChanging},
		Capacity: g.capacity, GPUUse: g.gpuUse, WatchGPU: g.watchGPU, GPUWait: c.GPUWait, Lease: c.Lease,
	})
	c.Peers.HandleCall(gate.HandleHome(gate.Grant, g.asked))
	c.Peers.HandleCall(gate.HandleHome(gate.Release, g.released))
	return g
}

// own are this node's documents of a kind.
func (g *Lender) own(kind api.Kind) ledger.Filter {
	return ledger.Filter{Kinds: []api.Kind{kind}, Nodes: []api.NodeID{g.cfg.Self}}
}

// capacity is what there is to lend.
func (g *Lender) capacity() grant.Capacity {
	memory, _ := ledger.Read[api.Memory](g.cfg.Ledger, api.Key{Node: g.cfg.Self, Kind: api.KindMemory})
	return grant.Capacity{WorkingSetBytes: memory.GPUWorkingSetBytes, OthersMaxBytes: g.cfg.Sharing().MemoryMaxBytes}
}

// gpuUse is how much of the GPU is used, as far as it was read lately.
func (g *Lender) gpuUse() (ratio float64, known bool) {
	return g.load.Mean(g.cfg.Clock.Boot())
}

// readGPU reads how much of the GPU is used.
func (g *Lender) readGPU(ctx context.Context) {
	ctx, cancel := native.WithTimeout(ctx, g.cfg.Clock, gpuReadWithin, "the use of the GPU")
	defer cancel()
	snapshot, err := g.cfg.Facts.Snapshot(ctx, native.AreaSystem)
	if err != nil || snapshot.System == nil {
		return
	}
	g.noteGPU(cmp.Or(snapshot.System.GPULoadRatio, snapshot.System.GPUUseRatio))
}

// noteGPU notes how much of the GPU is used. What is lent uses it itself.
func (g *Lender) noteGPU(load *float64) {
	for _, held := range g.Holders() {
		if held.State == api.GrantHeld && held.GPU != api.GPUNone {
			load = nil
		}
	}
	g.load.Note(g.cfg.Clock.Boot(), load)
}

// watchGPU has the use of the GPU read while somebody waits for it.
func (g *Lender) watchGPU(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.watch != nil {
		g.watch.Close()
		g.watch = nil
	}
	if !on {
		return
	}
	_, watch := g.cfg.Ledger.Watch(ledger.WatchOptions{Name: "grants", Filter: g.own(api.KindSystem)})
	g.watch = watch
	go func() {
		for {
			if _, err := watch.Next(context.Background()); err != nil {
				return
			}
			if system, found := ledger.Read[api.System](g.cfg.Ledger, api.Key{Node: g.cfg.Self, Kind: api.KindSystem}); found {
				g.noteGPU(cmp.Or(system.GPULoadRatio, system.GPUUseRatio))
				g.Recheck()
			}
		}
	}()
}

// asked answers peer.grant.
func (g *Lender) asked(ctx context.Context, home gate.Home, p api.PeerGrantParams) (any, error) {
	p.Principal = home.Spec().Principal // whatever the home says
	r, err := grant.RequestOf(p)
	if err != nil {
		return nil, err
	}
	if r.GPU != api.GPUNone {
		g.readGPU(ctx)
	}
	if why, on := g.cfg.Device(ctx, r.PortNumbers); why != "" {
		return api.Grant{State: api.GrantRefused, Since: api.TimeOf(g.cfg.Clock.Now()), Principal: r.Principal, Epoch: r.Epoch,
			GPU: r.GPU, PortNumbers: r.PortNumbers, Reason: why, WaitingFor: on}, nil
	}
	lent, err := g.Ask(ctx, r)
	if lent.State == api.GrantHeld && lent.Reason != "" {
		g.cfg.Log.Warn("the GPU is lent although other programs use it", "holder", p.Holder)
	}
	return lent, err
}

// released answers peer.release.
func (g *Lender) released(_ context.Context, _ gate.Home, p api.PeerHolderParams) (any, error) {
	h, err := grant.ParseHolder(p.Holder)
	if err != nil {
		return nil, err
	}
	return api.Empty{}, g.Release(h, p.Epoch)
}

// ForgetFormer ends the documents of what the daemon before this one had lent, and
// that nobody has any more. It is called when all that runs on is restored.
func (g *Lender) ForgetFormer() error {
	held := g.Holders()
	for _, record := range g.cfg.Ledger.List(g.own(api.KindGrant)) {
		name := record.Key().Name
		if _, isHeld := held[name]; !isHeld {
			if err := g.cfg.Documents.Delete(api.KindGrant, name); err != nil {
				return err
			}
		}
	}
	return nil
}
