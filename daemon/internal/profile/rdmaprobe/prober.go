package rdmaprobe

import (
	"context"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
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
	attempts int
	seats    map[api.RankRef]*seat
	visits   map[api.MeasureID]*visit
}

// New makes a prober and answers the nodes whose cables end here.
func New(cfg Config) *Prober {
	p := &Prober{cfg: cfg, seats: map[api.RankRef]*seat{}, visits: map[api.MeasureID]*visit{}}
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

// Tell takes how far a rank of a test has come; false where it is none.
func (p *Prober) Tell(ref api.RankRef, now api.Handshake) (isOwn bool) {
	p.mu.Lock()
	s := p.seats[ref]
	p.mu.Unlock()
	if s == nil {
		return false
	}
	p.note(s, now)
	return true
}

// Fail takes why a rank of a test has to end; false where it is none.
func (p *Prober) Fail(ref api.RankRef, why *api.Error) (isOwn bool) {
	p.mu.Lock()
	s := p.seats[ref]
	p.mu.Unlock()
	if s == nil {
		return false
	}
	s.cancel(why)
	return true
}

// refOf names a rank of a test in the way of jobs: a job that is none.
func refOf(id api.MeasureID, attempt, rank int) api.RankRef {
	return api.RankRef{Job: api.JobID("j" + string(id)[1:]), Attempt: attempt, Rank: rank}
}

// attempt numbers the tries: what is left of one in a side channel is nothing to
// the next of the same measurement.
func (p *Prober) attempt() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attempts++
	return p.attempts
}
