package probe

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
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
	cfg.Budget = cmp.Or(cfg.Budget, DefaultBudget)
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
// progress is told what is being done and which part of all
// is behind. The error is an *api.Error; beside it, the result has what was
// measured before.
func (p *Prober) Measure(ctx context.Context, id api.MeasureID, path profile.Path, amount Amount, progress func(step string, done float64)) (Result, error) {
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
	m := &asking{prober: p, id: id, path: path, amount: amount, key: key, notify: progress}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	defer m.cancel(nil)
	if fault := m.fault(m.run(within)); fault != nil {
		return m.result, fault
	}
	return m.result, nil
}

// Read implements profile.Probe.
func (p *Prober) Read(ctx context.Context, id api.MeasureID, path profile.Path, full bool, progress func(string, float64)) (profile.Reading, error) {
	amount := AmountRefresh
	if full {
		amount = AmountFull
	}
	r, err := p.Measure(ctx, id, path, amount, progress)
	return r.Reading, err
}

// Leave takes what a measurement by another node needs of this one: its
// grants, and that nothing speaks against measuring now. It is asked for this
// node's own measurements of itself too, which hold the grants already. What it
// gives is called once when the measurement has ended. The error is an
// *api.Error that says why not.
type Leave func(ctx context.Context, from api.NodeID, p api.PeerMeasureParams) (release func(), err error)

// Config is what a [Prober] needs. Budget may be left out.
type Config struct {
	Peers   peer.Caller
	Sockets native.Sockets
	Clock   native.Clock
	// Key is this node's own.
	Key ed25519.PrivateKey
	// Members gives a member's public key; false for whoever is none.
	Members func(node api.NodeID) (publicKey ed25519.PublicKey, ok bool)
	// Leave is asked before another node may measure.
	Leave Leave
	// Interface gives this node's interface that has an address.
	Interface func(sink netip.Addr) (iface string, ok bool)
	// Budget is how much of this node's time each peer may use up in
	// BudgetPeriod; DefaultBudget where zero.
	Budget time.Duration
	Log    *slog.Logger
}

const (
	// DefaultBudget is how much of a node's time one peer may use up in
	// BudgetPeriod: a full measurement takes about 5 s, so that every path
	// can be measured in full a few times in a row, and refreshed for ever.
	DefaultBudget = 90 * time.Second
	// BudgetPeriod is how long it takes until a budget that was used up is full again.
	BudgetPeriod = 10 * time.Minute
)

// Amount is how much is measured.
type Amount string

const (
	// AmountFull is round trips, and each way about 1 s of transfer after the
	// connections have come to speed, with as many as fill the path.
	AmountFull Amount = "full"
	// AmountRefresh is round trips, and each way 32 MiB or 50 ms of transfer,
	// whichever ends first, with as many connections as an earlier measurement found.
	AmountRefresh Amount = "refresh"
	// AmountRTT is round trips only.
	AmountRTT Amount = "rtt"
)

const (
	// leaveWithin bounds the other node's answer to the announcement.
	leaveWithin = 10 * time.Second
	// placeWithin is how long another measurement may take to end before one is refused.
	placeWithin = time.Second
	// comeWithin is how long a measured node waits for the measuring one's first
	// connection, which follows the announcement's answer.
	comeWithin = 5 * time.Second
	// proveWithin bounds the proof of both identities on a connection, and the
	// dialling before it.
	proveWithin = 3 * time.Second
	// stalledAfter is how long nothing at all may arrive or leave. The kernel
	// sends a lost packet again after 0.2, 0.4 and 0.8 s.
	stalledAfter = 3 * time.Second
	// leftAfter is the same at the measured node, which lets the other one notice first.
	leftAfter = 2 * stalledAfter
	// fullWithin and briefWithin bound a whole measurement, which take about 5 s
	// and well under 1 s.
	fullWithin  = 20 * time.Second
	briefWithin = 10 * time.Second
	// visitWithin is the longest that a measured node puts up with.
	visitWithin = 30 * time.Second

	// maxStreams is how many connections are used at once; more have not been
	// seen to give more.
	maxStreams = 8
	// maxUnproven is how many connections may be about to prove who they are.
	maxUnproven = 32

	// chunk is how much is written and read at once. Above 256 KiB a transfer
	// over loopback gets no faster; under 64 KiB it costs wake-ups.
	chunk = 256 << 10

	// fullBytes and briefBytes are the most that is sent, both ways together:
	// far above what 1 s over the fastest cable takes, and what a refresh may
	// take with its warm-up.
	fullBytes  = 256 << 30
	briefBytes = 1 << 30
)

// Result is what a path gave: rates are of payload, each timed by its receiver, and a
// round trip counts as lost for which a system had to send again.
type Result struct {
	profile.Reading
	// UpStreams and DownStreams are how many connections each direction used at once.
	UpStreams, DownStreams int
}
