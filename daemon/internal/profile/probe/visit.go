package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// visit is a measurement that another node makes of a path to this one.
type visit struct {
	prober  *Prober
	from    api.NodeID
	key     []byte
	params  api.PeerMeasureParams
	token   []byte
	began   time.Duration
	leave   func() // gives back what Leave took
	listen  net.Listener
	ctx     context.Context
	cancel  context.CancelCauseFunc
	working sync.WaitGroup

	seen  atomic.Int64 // grows with everything that arrives or leaves
	noise []byte
	up    streams
	came  counter
	down  streams
	wrote atomic.Int64

	mu      sync.Mutex
	used    map[slot]bool // connections that came
	known   map[net.Conn]bool
	control *control
	here    chan struct{} // closed when the control connection has come
}

// slot is a connection's place in a measurement; each is taken once.
type slot struct {
	purpose purpose
	stream  int
}

var errOver = errors.New("the measurement is over")

// prepare takes what is needed and listens. Where it fails, nothing is kept.
func (v *visit) prepare(ctx context.Context, iface string) (port int, err error) {
	if v.leave, err = v.prober.cfg.Leave(ctx, v.from, v.params); err != nil {
		return 0, err
	}
	v.ctx, v.cancel = context.WithCancelCause(v.prober.base)
	v.listen, err = v.prober.cfg.Sockets.Listen(v.ctx, iface, netip.AddrPortFrom(v.params.Sink, 0))
	if err != nil {
		v.cancel(nil)
		v.leave()
		v.prober.cfg.Log.Info("cannot listen for a measurement", "interface", iface, "error", err)
		return 0, api.Errorf(api.ReasonLinkGone, iface, "%s cannot listen on %s.", v.prober.cfg.Peers.Self().Display(), iface)
	}
	return v.listen.Addr().(*net.TCPAddr).Port, nil
}

// serve serves the measurement to its end, and gives back what it took.
func (v *visit) serve(within time.Duration) {
	clock := v.prober.cfg.Clock
	ctx, stop := native.WithTimeout(v.ctx, clock, within, "the measurement by "+v.from.Display())
	v.ctx = ctx
	context.AfterFunc(ctx, func() { v.listen.Close() })
	v.noise = noise()
	v.came.clock, v.came.tell = clock, v.count
	v.working.Go(v.accept)
	v.working.Go(func() { watch(ctx, clock, &v.seen, leftAfter, func() { v.cancel(errStalled) }) })
	v.working.Go(func() {
		first, done := native.WithTimeout(ctx, clock, comeWithin, "the first connection of "+v.from.Display())
		defer done()
		select {
		case <-v.here:
		case <-first.Done():
			v.cancel(context.Cause(first))
		}
	})
	<-ctx.Done()
	v.prober.cfg.Log.Debug("measured by another node", "node", v.from, "sink", v.params.Sink, "end", context.Cause(ctx))
	v.listen.Close()
	v.up.close()
	v.down.close()
	v.working.Wait()
	stop()
	v.cancel(nil)
	v.leave()
	v.prober.end(v.from, clock.Boot()-v.began)
}

var errStalled = errors.New("the measuring node stopped")

// answer serves the control connection.
func (v *visit) answer(c *control) error {
	for {
		w, err := c.hear()
		if err != nil {
			return err
		}
		switch {
		case w.Say == sayEcho:
			if err := c.answerEchoes(); err != nil {
				return err
			}
		case w.Say == sayStop && w.Way == forUp:
			v.up.close()
			err = c.say(word{Say: sayTotal, Bytes: v.came.total.Load()})
		case w.Say == sayStop && w.Way == forDown:
			v.down.close()
			err = c.say(word{Say: sayTotal, Bytes: v.wrote.Load()})
		default:
			err = errFrame
		}
		if err != nil {
			return err
		}
	}
}

// count tells the measuring node what came.
func (v *visit) count(c count) {
	v.mu.Lock()
	control := v.control
	v.mu.Unlock()
	if control == nil {
		return
	}
	if err := control.say(word{Say: sayCount, Bytes: c.bytes, AtUS: c.at.Microseconds()}); err != nil {
		v.cancel(err)
	}
}

// moved is told what came or went, and ends what is more than was announced.
func (v *visit) moved() {
	v.seen.Add(1)
	if v.came.total.Load()+v.wrote.Load() > v.params.MaxBytes {
		v.cancel(errTooMuch)
	}
}

var errTooMuch = errors.New("more bytes than were announced")
