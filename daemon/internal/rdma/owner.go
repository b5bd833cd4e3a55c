package rdma

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
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
	planner api.LinkID    // the cable that is planned now; zero where none is
	updated chan struct{} // closed when something has changed
	lost    map[api.LinkEnd]*loss
	saving  sync.Mutex     // held over a save, so that the newest is the last
	running sync.WaitGroup // what is begun before closed
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

// New makes the owner and answers peer.rdma. [Owner.Start] takes up what the
// daemon before has left.
func New(cfg Config) *Owner {
	// Nothing is recorded before it is known what was: asked too early, this end is
	// asked again.
	early := api.NewError(api.ReasonUnreachable, cfg.Name(cfg.Node))
	o := &Owner{cfg: cfg, broken: early, updated: make(chan struct{}), lost: map[api.LinkEnd]*loss{}}
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
		o.notify(p, change.Restarted{})
		o.receiveOther(p)
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
	o.wakeLocked()
	if machine && !o.closed {
		o.running.Go(func() { o.lookForLoss(o.ctx) })
	}
}

// wakeLocked wakes whoever waits.
func (o *Owner) wakeLocked() {
	close(o.updated)
	o.updated = make(chan struct{})
}

// until calls look, and calls it again whenever something changed, until it returns true.
// It reports false where ctx or the owner ended before.
func (o *Owner) until(ctx context.Context, look func() bool) bool {
	for {
		o.mu.Lock()
		updated := o.updated
		o.mu.Unlock()
		if look() {
			return true
		}
		select {
		case <-updated:
		case <-ctx.Done():
		case <-o.ctx.Done():
		}
		if ctx.Err() != nil || o.ctx.Err() != nil {
			return false
		}
	}
}

// await is until with look called under mu.
func (o *Owner) await(ctx context.Context, look func() bool) bool {
	return o.until(ctx, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return look()
	})
}

// find is the change whose record fits; nil where there is none.
func (o *Owner) find(fits func(change.Record) bool) *part {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, one := range o.parts {
		if fits(one.record) {
			return one
		}
	}
	return nil
}

func (o *Owner) recordOf(p *part) change.Record {
	o.mu.Lock()
	defer o.mu.Unlock()
	return p.record
}

// held are the records of changes of which something can be put back, and of those
// under way. After this node was given a new key, their ends here have the former one.
func (o *Owner) held() (all []change.Record) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.parts {
		if p.record.State != api.RDMAChangeUndone {
			all = append(all, p.record)
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

// Conditions is where this node's own troubles are told.
type Conditions interface {
	// Hold says whether a condition holds on a subject, and what is particular of it.
	Hold(code api.Reason, subject string, holds bool, detail string)
}

// Facts reads this machine.
type Facts interface {
	// Snapshot reads areas now.
	Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error)
}

// Kept keeps a list over restarts. What was saved is there after a crash, whole.
type Kept[T any] interface {
	// Load gives what was saved last.
	Load() ([]T, error)
	// Save replaces it.
	Save([]T) error
}

// Config is what an [Owner] needs. Functions answer from memory.
type Config struct {
	// Node is this node.
	Node  api.NodeID
	Clock native.Clock
	Peers peer.Caller
	// Facts and Network are the machine's.
	Facts   Facts
	Network native.NetworkActions
	// Records has what is needed to put changes back, History is the audit log, the
	// newest first.
	Records Kept[change.Record]
	History Kept[api.RDMAChange]
	// Documents and Conditions publish.
	Documents  ledger.Publisher
	Conditions Conditions
	// Allowed says why a node's administrators may not change RDMA here; empty where
	// they may.
	Allowed func(from api.NodeID) api.Reason
	// Check says why RDMA cannot be enabled on a cable as this node sees it; nil where
	// it can, or is already.
	Check func(link api.LinkID) *api.Error
	// Able says why this machine's network cannot be changed in some way; nil where it
	// can.
	Able func(native.Feature) error
	// Busy says what must not be disturbed on this node; nil where nothing is.
	Busy func() *api.Error
	// Quiet waits until no test uses the RDMA device of a receptacle of this node, and
	// says who still does when ctx ends.
	Quiet func(ctx context.Context, portNumber api.PortNumber) *api.Error
	// Idle is called after [Owner.Changing] may have become false.
	Idle func()
	// Others gives what another node says of its end of a cable.
	Others func(node api.NodeID, link api.LinkID) (api.RDMAChange, bool)
	// Name is what people call a node.
	Name func(api.NodeID) string
	// Prove tests a cable of this node over RDMA, once both ends are changed: nil
	// where data came through. An *api.Error of jaccl_missing says that nothing can be
	// tested here.
	Prove func(ctx context.Context, link api.LinkID) error
	// Log takes what a maintainer may want to know.
	Log *slog.Logger
}

// Deadlines. Together they are shorter than change.DoubtWithin.
const (
	// quietWithin is how long a change waits for a test of the cable to end.
	quietWithin = 10 * time.Second
	// planWithin bounds planning at an end, the wait for another change included.
	planWithin = 20 * time.Second
	// seenWithin is how long an end waits to see a cable as the asking node does.
	seenWithin = 3 * time.Second
	// stepWithin bounds one setting, repeated while somebody else holds the
	// configuration.
	stepWithin = 15 * time.Second
	// shownWithin bounds the wait for the system to show what was changed.
	shownWithin = 20 * time.Second
	// applyWithin bounds an end's part.
	applyWithin = 60 * time.Second
	// proveWithin bounds the test over the cable.
	proveWithin = 60 * time.Second
	// keepWithin bounds the last word to an end.
	keepWithin = 10 * time.Second
	// backWithin bounds putting back at an end.
	backWithin = 60 * time.Second
	// retryAfter is the pause after somebody else was quicker with the configuration.
	retryAfter = 200 * time.Millisecond
	// lostAfter is how long an address is missing before it counts as lost: a cable
	// that is plugged has none for a moment.
	lostAfter = 3 * time.Second
	// historyMax is how many changes the audit log remembers.
	historyMax = 200
)
