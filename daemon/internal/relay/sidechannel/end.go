package sidechannel

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"

	"fulmen/daemon/api"
	"fulmen/native"
)

// end is what a root and a leaf have alike: the end of the channel of a rank at its own
// node.
type end struct {
	c        *Channels
	ch       request
	port     int
	ctx      context.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup
	silence  native.Timer
	isSilent atomic.Bool     // the time in which anything is carried has ended
	ending   context.Context // over when the rank has ended
	ended    context.CancelFunc
	reporter reporter

	mu      sync.Mutex
	severed bool
	failed  bool
	over    bool
}

// begin makes it the end of a channel, of which state tells how far its rank has come.
func (e *end) begin(c *Channels, ch request, port int, state func() (now api.Handshake, over bool)) {
	e.c, e.ch, e.port = c, ch, port
	e.reporter = reporter{c: c, ref: ch.Rank, state: state, reported: api.Handshake{State: api.HandshakeNone}}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.ending, e.ended = context.WithCancel(context.Background())
	e.silence = c.cfg.Clock.AfterFunc(ch.Within, e.stopCarrying)
}

func (e *end) coordinator() netip.AddrPort { return coordinatorAt(e.port) }

// finish is the beginning of its close: the rank has ended, and fails for nothing more.
func (e *end) finish() {
	e.silence.Stop()
	e.reporter.stop()
	e.mu.Lock()
	e.failed, e.over = true, true // whatever breaks from here on breaks because of this
	e.mu.Unlock()
	e.ended()
}

// stopCarrying ends the time in which anything is carried.
func (e *end) stopCarrying() { e.isSilent.Store(true) }

// fail ends the rank, once.
func (e *end) fail(why *api.Error) {
	e.mu.Lock()
	over := e.failed
	e.failed = true
	e.mu.Unlock()
	if !over {
		e.c.cfg.Fail(e.ch.Rank, why)
	}
}

// notify has it told how far the rank is, and on whom it waits.
func (e *end) notify() { e.reporter.changed() }

// carry counts bytes in the flow of a rank, which that has sent or was sent, and reports
// whether they may be carried still. What guards the flow is held.
func (e *end) carry(f *flow, rank, n int, own bool) bool {
	if e.isSilent.Load() || f.bytes > api.MaxSideChannelBytes {
		return false
	}
	e.reporter.carries()
	if f.carry(n, own) {
		return true
	}
	if !f.joined {
		go e.fail(f.tooMuch(e.ch.Rank, rank))
	}
	return false
}
