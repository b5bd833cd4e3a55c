package rdma

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

// Owner is this node's part in changes for RDMA. It may be used by several
// goroutines.
type Owner struct {
	cfg Config

	mu      sync.Mutex
	closed  bool
	broken  *api.Error // why nothing can be recorded; nil where it can
	parts   []*part
	history []api.RDMAChange
	planner *planning     // who plans now; nil where nobody does
	news    chan struct{} // closed when something has changed
	lost    map[api.LinkEnd]*loss
	saving  sync.Mutex // held over a save, so that the newest is the last
	running sync.WaitGroup
	ctx     context.Context
	stop    context.CancelFunc
}

// part is a change with its driver.
type part struct {
	record change.Record
	queue  []change.Event
	driven bool               // a goroutine works the queue off
	cancel context.CancelFunc // ends the effect under way where it may be ended; nil where none may
	timer  native.Timer
}

// planning is the place of a change that is not recorded yet.
type planning struct{ link api.LinkID }

// New makes the owner and answers peer.rdma. [Owner.Start] takes up what the
// daemon before has left.
func New(cfg Config) *Owner {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	// Nothing is recorded before it is known what was: asked too early, this end is
	// asked again.
	early := api.NewError(api.ReasonUnreachable, cfg.Name(cfg.Node))
	o := &Owner{cfg: cfg, broken: early, news: make(chan struct{}), lost: map[api.LinkEnd]*loss{}}
	o.ctx, o.stop = context.WithCancel(context.Background())
	cfg.Peers.HandleCall(gate.HandleCable(gate.RDMA, func(p api.PeerRDMAParams) api.LinkID { return p.Link }, o.asked))
	return o
}

// Start takes up what the daemon before has left: what was being made or put back
// is put back, what was in force is, and is looked at.
func (o *Owner) Start() error {
	records, err := o.cfg.Records.Load()
	if err != nil {
		// A record that cannot be read is not replaced, and nothing is changed without one.
		o.mu.Lock()
		o.broken = o.faultOf(o.ctx, err)
		o.mu.Unlock()
		return err
	}
	history, err := o.cfg.History.Load()
	if err != nil {
		o.cfg.Log.Warn("the history of changes cannot be read", "error", err)
	}
	o.mu.Lock()
	o.broken, o.history = nil, history
	for _, r := range records {
		o.parts = append(o.parts, &part{record: r})
	}
	parts := slices.Clone(o.parts)
	o.mu.Unlock()
	for _, p := range parts {
		o.publish(o.recordOf(p))
		o.tell(p, change.Restarted{})
		o.hearOther(p)
	}
	o.Look(true)
	return nil
}

// Close ends everything that waits. What is under way is taken up by the next
// Start.
func (o *Owner) Close() {
	o.mu.Lock()
	o.closed = true
	for _, p := range o.parts {
		p.stopTimer()
	}
	for _, l := range o.lost {
		l.stop()
	}
	o.mu.Unlock()
	o.stop()
	o.running.Wait()
}

// Look says that something on this machine or in the cluster has changed: whoever
// waits looks again. machine says that it was on this machine.
func (o *Owner) Look(machine bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wake()
	if machine && !o.closed {
		o.begin(func() { o.lookForLoss(o.ctx) })
	}
}

// wake wakes whoever waits; the caller holds mu.
func (o *Owner) wake() {
	close(o.news)
	o.news = make(chan struct{})
}

// begin has something done aside; the caller holds mu, and the owner is not closed.
func (o *Owner) begin(f func()) { o.running.Go(f) }

// await waits until f, which is called under mu, is true. It reports false where
// ctx ended before.
func (o *Owner) await(ctx context.Context, f func() bool) bool {
	for {
		o.mu.Lock()
		done, news := f(), o.news
		o.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-news:
		case <-ctx.Done():
			return false
		case <-o.ctx.Done():
			return false
		}
	}
}

// Changes are the changes of this node of which something can be put back, and
// those under way.
func (o *Owner) Changes() []api.RDMAChange {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []api.RDMAChange
	for _, p := range o.parts {
		if p.record.State != api.RDMAChangeUndone {
			all = append(all, p.record.View())
		}
	}
	return all
}

// History is the audit log, the newest change first, of one cable or of all.
func (o *Owner) History(of func(api.RDMAChange) bool) []api.RDMAChange {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := []api.RDMAChange{}
	for _, c := range o.history {
		if of == nil || of(c) {
			all = append(all, c)
		}
	}
	return all
}

// Held is a cable of which this node has something to put back.
type Held struct {
	// Link is the cable. After this node was given a new key, it names the end here
	// by the former one.
	Link api.LinkID
	// End is the end here.
	End api.LinkEnd
}

// Held are the cables of which this node has something to put back.
func (o *Owner) Held() []Held {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []Held
	for _, p := range o.parts {
		if p.record.State != api.RDMAChangeUndone {
			all = append(all, Held{p.record.Link, p.record.End})
		}
	}
	return all
}

// Ours reports whether a network service is one that Fulmen made.
func (o *Owner) Ours(service string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.parts {
		for _, s := range p.record.Steps {
			if s.Service != nil && s.Service.ID == service && s.State == api.RDMAStepDone {
				return true
			}
		}
	}
	return false
}

func (p *part) stopTimer() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

func (o *Owner) now() api.Time { return api.TimeOf(o.cfg.Clock.Now()) }

// within is a context that ends after d and says what was waited for.
func (o *Owner) within(ctx context.Context, d time.Duration, what string) (context.Context, context.CancelFunc) {
	return native.WithTimeout(ctx, o.cfg.Clock, d, what)
}
