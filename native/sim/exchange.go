package sim

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/netip"
	"syscall"
	"time"

	"fulmen/native/sim/loopback"
)

// answerWithin is how long after a call the other end may answer; it outlasts
// the time in which a listener hears who connected.
const answerWithin = 10 * time.Second

// exchange is the cluster as the sockets of one Mac on loopback see it.
type exchange struct{ h *handle }

// Open implements [loopback.Exchange].
func (e exchange) Open(ctx context.Context, iface string, at, taken netip.AddrPort) (loopback.OpenPort, error) {
	if err := ctx.Err(); err != nil {
		return loopback.OpenPort{}, err
	}
	d := &openPort{iface: iface, address: at.Addr(), port: int(at.Port()), at: taken}
	if err := e.h.open(d); err != nil {
		return loopback.OpenPort{}, err
	}
	return loopback.OpenPort{Port: d.port, Close: func() { e.h.shut(d) }}, nil
}

// Connect implements [loopback.Exchange].
func (e exchange) Connect(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort, changed func(loopback.State)) (loopback.Flow, error) {
	w := e.h.world
	var found loopback.Flow
	err := e.h.connect(ctx, iface, source, to, func(f *flow, d *openPort) {
		secret := make([]byte, loopback.TokenBytes/2)
		rand.Read(secret)
		f.token = hex.EncodeToString(secret)
		w.tokens[f.token] = f
		f.answer = w.afterLocked(answerWithin, "sim.path", func() {
			w.answered(f)
			w.hungUp(f, 1)
		})
		f.ends[0].changed = changed
		found = loopback.Flow{At: d.at, Token: f.token, Local: f.local(0), Remote: f.remote(0), Close: func() { w.hangUp(f, 0) }}
	})
	return found, err
}

// Answer implements [loopback.Exchange]. A token of another Mac's connection is
// as unknown as one that was never given.
func (e exchange) Answer(ctx context.Context, token string, changed func(loopback.State)) (loopback.Flow, error) {
	if err := ctx.Err(); err != nil {
		return loopback.Flow{}, err
	}
	w := e.h.world
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.tokens[token]
	if f == nil || f.ends[1].handle != e.h || e.h.ended {
		return loopback.Flow{}, syscall.ECONNREFUSED
	}
	w.answered(f)
	f.ends[1].changed = changed
	if f.state != loopback.Whole {
		changed(f.state)
	}
	return loopback.Flow{Local: f.local(1), Remote: f.remote(1), Close: func() { w.hangUp(f, 1) }}, nil
}
