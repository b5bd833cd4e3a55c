package probe

import (
	"context"
	"log/slog"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/profile"
	"fulmen/native"
)

// Prober measures paths from this node, and lets other nodes measure theirs to
// it. It may be used by several goroutines.
type Prober struct {
	cfg    Config
	base   context.Context
	stop   context.CancelCauseFunc // ends every visit
	visits sync.WaitGroup
	place  chan struct{} // has one in it while another node measures, or asks for leave

	mu      sync.Mutex
	closed  bool
	budgets budgets
}

// New makes a prober, which answers peer.measure from now on.
func New(cfg Config) *Prober {
	if cfg.Budget <= 0 {
		cfg.Budget = DefaultBudget
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Prober{cfg: cfg, place: make(chan struct{}, 1), budgets: budgets{limit: cfg.Budget, used: map[api.NodeID]spent{}}}
	p.base, p.stop = context.WithCancelCause(context.Background())
	cfg.Peers.HandleCall(gate.HandleMember(gate.Measure, p.announced))
	return p
}

// Close ends the measurements of others, and waits until nothing of them is
// left. Nobody may measure after it.
func (p *Prober) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop(api.NewError(api.ReasonStopping, ""))
	p.visits.Wait()
}

// publicKey is a member's.
func (p *Prober) publicKey(node api.NodeID) ([]byte, bool) {
	key, ok := p.cfg.Members(node)
	return key, ok && len(key) == keyBytes
}

// Measure measures a path. The caller holds this node's grants until it
// returns, which it does within half a minute, and soon after ctx ends.
// progress, which may be nil, is told what is being done and which part of all
// is behind. The error is an *api.Error; beside it, the result has what was
// measured before.
func (p *Prober) Measure(ctx context.Context, id api.MeasureID, path Path, amount Amount, progress func(step string, done float64)) (Result, error) {
	if progress == nil {
		progress = func(string, float64) {}
	}
	path.Sink = path.Sink.Unmap().WithZone("")
	path.Source = path.Source.Unmap().WithZone("")
	key, ok := p.publicKey(path.Peer)
	if !ok {
		return Result{}, api.NewError(api.ReasonNoSuchNode, path.Peer.Display())
	}
	within := briefWithin
	if amount == AmountFull {
		within = fullWithin
	}
	ctx, stop := native.WithTimeout(ctx, p.cfg.Clock, leaveWithin+within, "the measurement of the path to "+path.Peer.Display())
	defer stop()
	m := &asking{prober: p, id: id, path: path, amount: amount, key: key, tell: progress}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	defer m.cancel(nil)
	began := p.cfg.Clock.Boot()
	err := m.fault(m.run(within))
	m.result.Took = p.cfg.Clock.Boot() - began
	if err != nil {
		return m.result, err
	}
	return m.result, nil
}

// Read implements profile.Probe.
func (p *Prober) Read(ctx context.Context, id api.MeasureID, path profile.Path, full bool, progress func(string, float64)) (profile.Reading, error) {
	amount := AmountRefresh
	if full {
		amount = AmountFull
	}
	r, err := p.Measure(ctx, id, Path{
		Peer: path.Peer, Interface: path.Interface, Source: path.Source, Sink: path.Sink, Streams: path.Streams,
	}, amount, progress)
	return profile.Reading{
		UpBitsPerS: r.UpBitsPerS, DownBitsPerS: r.DownBitsPerS, RTTUS: r.RTTUS, JitterUS: r.JitterUS, LossRatio: r.LossRatio,
		RTTSamples: r.RTTSamples, Streams: r.Streams, MovedBytes: r.MovedBytes,
	}, err
}
