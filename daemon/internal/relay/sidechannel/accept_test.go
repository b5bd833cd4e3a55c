package sidechannel

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// refusing is a listener that takes nobody, for one reason after the other.
type refusing struct {
	net.Listener
	why    []error
	asked  []time.Duration // when, since start
	start  time.Time
	closed int
}

func (r *refusing) Accept() (net.Conn, error) {
	r.asked = append(r.asked, time.Since(r.start))
	return nil, r.why[min(len(r.asked), len(r.why))-1]
}

func (r *refusing) Close() error { r.closed++; return nil }

// A machine that has no files left for a moment is waited for, and a caller that has
// gone again ends nothing.
func TestAListenerGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		why   []error
		asked []time.Duration
	}{
		"it is closed":       {[]error{net.ErrClosed}, []time.Duration{0}},
		"no files":           {[]error{syscall.EMFILE, syscall.ENFILE, net.ErrClosed}, []time.Duration{0, acceptAgain, 2 * acceptAgain}},
		"a caller that went": {[]error{syscall.ECONNABORTED, syscall.ECONNABORTED, net.ErrClosed}, []time.Duration{0, 0, 0}},
		"one, then no files": {[]error{syscall.ECONNABORTED, syscall.EMFILE, net.ErrClosed}, []time.Duration{0, 0, acceptAgain}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, _ := leafAlone(api.HandshakeNone)
				l.spawned = make(chan struct{})
				close(l.spawned)
				l.ctx, l.cancel = context.WithCancel(context.Background())
				defer l.cancel()
				listener := &refusing{why: c.why, start: time.Now()}
				l.listener = listener
				l.listen()
				is.New(t).Equal(listener.asked, c.asked)
			})
		})
	}
}

// addressed is a connection between two addresses.
type addressed struct {
	net.Conn
	near, far net.Addr
}

func (c addressed) LocalAddr() net.Addr  { return c.near }
func (c addressed) RemoteAddr() net.Addr { return c.far }

// holder is a machine on which a process group has every connection, or none.
type holder struct {
	reported
	has bool
}

func (h holder) Holds(_ int, _, _ netip.AddrPort) (bool, error) { return h.has, nil }

// Only a connection of TCP that the rank's program has is the rank's.
func TestWhoseConnectionItIs(t *testing.T) {
	tcp, other := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 29500}, &net.UnixAddr{Name: "socket", Net: "unix"}
	for _, c := range []struct {
		near, far net.Addr
		has, own  bool
	}{
		{tcp, tcp, true, true}, {tcp, tcp, false, false}, {other, tcp, true, false}, {tcp, other, true, false}, {other, other, true, false},
	} {
		l, _ := leafAlone(api.HandshakeNone)
		l.c.cfg.Machine, l.c.cfg.Group = holder{has: c.has}, func(api.RankRef) int { return 1 }
		is.New(t).Equal(l.isOwn(addressed{near: c.near, far: c.far}) == nil, c.own)
	}
}

// A leaf's end lets what is due be sent before its stream ends, and leaves no timer.
func TestALeafEndsOnceAllIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		l, _ := leafAlone(api.HandshakeNone)
		l.ctx, l.cancel = context.WithCancel(context.Background())
		l.spoken = make(chan struct{})
		var back []int
		l.port, l.c.cfg.Return = 29501, func(port int) { back = append(back, port) }
		l.silence = l.c.cfg.Clock.AfterFunc(time.Hour, l.stopCarrying)
		listener := &refusing{why: []error{net.ErrClosed}}
		l.listener = listener
		working := true
		l.work.Go(func() { <-l.ctx.Done(); time.Sleep(time.Second); working = false })
		var waited []<-chan struct{}
		l.close(func(done <-chan struct{}) {
			is.True(l.ctx.Err() == nil)
			waited = append(waited, done)
		})
		is.Equal(waited, []<-chan struct{}{l.out.sent}) // it has said nothing that is waited for
		is.True(!working)
		is.True(l.ctx.Err() != nil && l.over && l.failed)
		is.Equal(listener.closed, 1)
		is.Equal(back, []int{29501})
		time.Sleep(2 * time.Hour)
		is.True(!l.isSilent.Load())
	})
}
