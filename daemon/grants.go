package daemon

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/policy"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/grant"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/rank"
	"fulmen/native"
)

// gpuReadWithin bounds the reading of that use before somebody is put in line.
const gpuReadWithin = 300 * time.Millisecond

// deviceReadWithin bounds the reading of RDMA devices of which one may be stuck.
const deviceReadWithin = time.Second

// grants is what the arbiter reads of this node, and who calls it.
type grants struct {
	*grant.Arbiter
	daemon *daemon

	load  grant.GPULoad // of other programs
	mu    sync.Mutex
	watch *ledger.Watcher // while somebody waits for the GPU
}

// openGrants makes the one arbiter of the node, and answers peer.grant and
// peer.release with it.
func (d *daemon) openGrants() {
	g := &grants{daemon: d}
	g.Arbiter = grant.New(grant.Config{
		Self: d.identity.Node, Clock: d.platform.Clock, Documents: d.owner("grant", api.KindGrant), Policy: lendingInPeace{lendingNow{d}},
		Capacity: g.capacity, GPUUse: g.gpuUse, WatchGPU: g.watchGPU,
		GPUWait: func() time.Duration { return d.live.Current().Times.GPUWait }, Lease: d.live.Current().Times.Lease,
	})
	d.grants = g
	d.onClose(func() error { g.Close(); return nil })
	d.peers.HandleCall(gate.HandleHome(gate.Grant, g.asked))
	d.peers.HandleCall(gate.HandleHome(gate.Release, g.released))
}

// lendingNow is what this node lends in the circumstances of now.
type lendingNow struct{ d *daemon }

// Allows is the arbiter's and the ranks'.
func (l lendingNow) Allows(p api.Principal) (account string, reason api.Reason) {
	var now policy.Circumstances
	var system api.System
	if l.d.own(api.KindSystem, &system) {
		now.PowerSource = system.PowerSource
	}
	if l.d.policy.Sharing().OnlyWhenIdle {
		now.UserIdleS, _ = l.d.unused(context.Background())
	}
	return l.d.policy.Allows(p, now)
}

// capacity is what there is to lend.
func (g *grants) capacity() grant.Capacity {
	var memory api.Memory
	g.daemon.own(api.KindMemory, &memory)
	return grant.Capacity{WorkingSetBytes: memory.GPUWorkingSetBytes, OthersMaxBytes: g.daemon.policy.Sharing().MemoryMaxBytes}
}

// gpuUse is how much of the GPU is used, as far as it was read lately.
func (g *grants) gpuUse() (ratio float64, known bool) {
	return g.load.Mean(g.daemon.platform.Clock.Boot())
}

// readGPU reads how much of the GPU is used.
func (g *grants) readGPU(ctx context.Context) {
	ctx, cancel := native.WithTimeout(ctx, g.daemon.platform.Clock, gpuReadWithin, "the use of the GPU")
	defer cancel()
	snapshot, err := g.daemon.platform.Facts.Snapshot(ctx, native.AreaSystem)
	if err != nil || snapshot.System == nil {
		return
	}
	g.noteGPU(cmp.Or(snapshot.System.GPULoadRatio, snapshot.System.GPUUseRatio))
}

// noteGPU notes how much of the GPU is used. What is lent uses it itself.
func (g *grants) noteGPU(load *float64) {
	for _, held := range g.Holders() {
		if held.State == api.GrantHeld && held.GPU != api.GPUNone {
			load = nil
		}
	}
	g.load.Note(g.daemon.platform.Clock.Boot(), load)
}

// watchGPU has the use of the GPU read while somebody waits for it.
func (g *grants) watchGPU(on bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !on {
		if g.watch != nil {
			g.watch.Close()
			g.watch = nil
		}
		return
	}
	if g.watch != nil {
		return
	}
	_, watch := g.daemon.ledger.Watch(ledger.WatchOptions{
		Name: "grants", Filter: ledger.Filter{Kinds: []api.Kind{api.KindSystem}, Nodes: []api.NodeID{g.daemon.identity.Node}},
	})
	g.watch = watch
	go func() {
		for {
			if _, err := watch.Next(context.Background()); err != nil {
				return
			}
			var system api.System
			if g.daemon.own(api.KindSystem, &system) {
				g.noteGPU(cmp.Or(system.GPULoadRatio, system.GPUUseRatio))
				g.Recheck()
			}
		}
	}()
}

// asked answers peer.grant.
func (g *grants) asked(ctx context.Context, home gate.Home, p api.PeerGrantParams) (any, error) {
	p.Principal = home.Spec().Principal // whatever the home says
	r, err := grant.RequestOf(p)
	if err != nil {
		return nil, err
	}
	if r.GPU != api.GPUNone {
		g.readGPU(ctx)
	}
	if why, on := g.daemon.deviceRefusal(ctx, r.Receptacles); why != "" {
		return api.Grant{State: api.GrantRefused, Since: api.TimeOf(g.daemon.platform.Clock.Now()), Principal: r.Principal, Epoch: r.Epoch,
			GPU: r.GPU, Receptacles: r.Receptacles, Reason: why, WaitingFor: on}, nil
	}
	lent, err := g.Ask(ctx, r)
	if lent.State == api.GrantHeld && lent.Reason != "" {
		g.daemon.logs.part("grant").Warn("the GPU is lent although other programs use it", "holder", p.Holder)
	}
	return lent, err
}

// released answers peer.release.
func (g *grants) released(_ context.Context, _ gate.Home, p api.PeerHolderParams) (any, error) {
	h, err := grant.ParseHolder(p.Holder)
	if err != nil {
		return nil, err
	}
	return api.Empty{}, g.Release(h, p.Epoch)
}

// forgetFormer ends the documents of what the daemon before this one had lent, and
// that nobody has any more. It is called when all that runs on is restored.
func (g *grants) forgetFormer() error {
	held := g.Holders()
	documents := g.daemon.owner("grant", api.KindGrant)
	filter := ledger.Filter{Kinds: []api.Kind{api.KindGrant}, Nodes: []api.NodeID{g.daemon.identity.Node}}
	for _, record := range g.daemon.ledger.List(filter) {
		name := record.Key().Name
		if _, isHeld := held[name]; !isHeld {
			if err := documents.Delete(api.KindGrant, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore takes up the grant of a rank that ran on.
func (g *grants) restore(of rank.Grant) error {
	return g.Restore(grant.Request{
		Holder: grant.ForRank(of.Rank), Epoch: of.Epoch, Principal: of.Principal, GPU: of.GPU, MemoryBytes: of.MemoryBytes,
		Receptacles: of.Receptacles, Lease: of.Lease,
	})
}

// sight is who of the cluster is there.
type sight struct{ d *daemon }

// Members are all members.
func (s sight) Members() []api.NodeID { return s.d.roster.Members() }

// Reached are those in sight, this node among them.
func (s sight) Reached() []api.NodeID {
	return slices.DeleteFunc(s.Members(), func(id api.NodeID) bool {
		return id != s.d.identity.Node && s.d.node.State(id).Liveness == api.LivenessUnreachable
	})
}

// Watch calls f after one of the two changed.
func (s sight) Watch(f func()) (stop func()) { return s.d.node.Watch(f) }
