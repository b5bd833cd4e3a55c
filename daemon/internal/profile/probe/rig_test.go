package probe

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/profile"
	"fulmen/native"
	"fulmen/native/memnet"
)

const (
	laptop = api.NodeID("0000000000000000")
	studio = api.NodeID("1111111111111111")
	third  = api.NodeID("2222222222222222")
	m1     = api.MeasureID("m00000001")
)

var (
	laptopAt = netip.MustParseAddr("169.254.1.1")
	studioAt = netip.MustParseAddr("169.254.1.2")
)

// there is what the laptop measures.
var there = profile.Path{Peer: studio, Interface: "en1", Source: laptopAt, Sink: studioAt}

// quiet is told of progress.
func quiet(string, float64) {}

// key is a node's key.
func key(node api.NodeID) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte(node + node))
}

// members knows all keys.
func members(node api.NodeID) (ed25519.PublicKey, bool) {
	switch node {
	case laptop, studio, third:
		return key(node).Public().(ed25519.PublicKey), true
	}
	return nil, false
}

// rig is two nodes on a cable, in a bubble's time.
type rig struct {
	t              *testing.T
	network        *memnet.Network
	scenario       *peertest.Network
	laptop, studio *Prober
	held           atomic.Int32 // leaves that were given and not given back
	wall           atomic.Int64 // by how much the wall clock is off
	given          atomic.Int32
	gone           atomic.Bool // the laptop's interface
}

// usualRate is what the cable carries, in bits a second.
const usualRate = 1e8

// in runs a test in a bubble, over a cable that takes 4 ms each way.
func in(t *testing.T, change func(node api.NodeID, cfg *Config), test func(r *rig)) {
	t.Helper()
	wire := narrow{rate: usualRate}
	within(t, func(node api.NodeID, cfg *Config) {
		at(studio, wire.hand)(node, cfg)
		if change != nil {
			change(node, cfg)
		}
	}, test)
}

// within is in, over a cable that carries whatever is sent.
func within(t *testing.T, change func(node api.NodeID, cfg *Config), test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, network: memnet.New(1), scenario: peertest.NewNetwork()}
		r.network.Attach(string(laptop), "en1", "cable", laptopAt)
		r.network.Attach(string(studio), "en5", "cable", studioAt)
		r.network.SetQuality("cable", memnet.Quality{Delay: 4 * time.Millisecond})
		r.laptop = r.start(laptop, change)
		r.studio = r.start(studio, change)
		defer func() {
			r.laptop.Close()
			r.studio.Close()
			if held := r.held.Load(); held != 0 {
				t.Errorf("%d leaves were not given back", held)
			}
		}()
		test(r)
	})
}

func (r *rig) start(node api.NodeID, change func(api.NodeID, *Config)) *Prober {
	began := time.Now()
	clock := native.ClockFrom(func() time.Time { return time.Now().Add(time.Duration(r.wall.Load())) },
		func() time.Duration { return time.Since(began) + time.Hour })
	cfg := Config{
		Peers:   peer.New(node, r.scenario.Add(node), peertest.GateFor(node, clock, nil)),
		Sockets: r.network.Host(string(node)),
		Clock:   clock,
		Key:     key(node), Members: members, Log: slog.New(slog.DiscardHandler),
		Leave: func(context.Context, api.NodeID, api.PeerMeasureParams) (func(), error) {
			r.held.Add(1)
			r.given.Add(1)
			return func() { r.held.Add(-1) }, nil
		},
		Interface: func(a netip.Addr) (string, bool) {
			switch {
			case node == laptop && a == laptopAt:
				return "en1", !r.gone.Load()
			case node == studio && a == studioAt:
				return "en5", true
			}
			return "", false
		},
	}
	change(node, &cfg)
	return New(cfg)
}

// pass lets time pass, and all happen that happens until then.
func (r *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// measure measures from the laptop.
func (r *rig) measure(amount Amount) (Result, *api.Error) {
	result, err := r.laptop.Measure(r.t.Context(), m1, there, amount, quiet)
	if err == nil {
		return result, nil
	}
	return result, api.AsError(err)
}

// wrapped are sockets whose connections pass through a hand.
type wrapped struct {
	native.Sockets
	hand func(net.Conn) net.Conn
}

func (w wrapped) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error) {
	conn, err := w.Sockets.Dial(ctx, iface, source, to)
	if err != nil {
		return nil, err
	}
	return w.hand(conn), nil
}

func (w wrapped) Listen(ctx context.Context, iface string, at netip.AddrPort) (net.Listener, error) {
	l, err := w.Sockets.Listen(ctx, iface, at)
	if err != nil {
		return nil, err
	}
	return wrappedListener{l, w.hand}, nil
}

type wrappedListener struct {
	net.Listener
	hand func(net.Conn) net.Conn
}

func (w wrappedListener) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return w.hand(conn), nil
}

// at gives a node other sockets.
func at(node api.NodeID, hand func(net.Conn) net.Conn) func(api.NodeID, *Config) {
	return func(n api.NodeID, cfg *Config) {
		if n == node {
			cfg.Sockets = wrapped{cfg.Sockets, hand}
		}
	}
}

// narrow is a wire that all connections of a node share, each way at a rate in
// bits a second.
type narrow struct {
	mu   sync.Mutex
	rate float64
	free [2]time.Time // when the wire is free, in and out
}

func (n *narrow) pass(way, bytes int) {
	n.mu.Lock()
	now := time.Now()
	if n.free[way].Before(now) {
		n.free[way] = now
	}
	n.free[way] = n.free[way].Add(time.Duration(float64(bytes) * 8 / n.rate * float64(time.Second)))
	wait := n.free[way].Sub(now)
	n.mu.Unlock()
	<-time.After(wait)
}

func (n *narrow) hand(conn net.Conn) net.Conn { return &narrowConn{conn, n} }

type narrowConn struct {
	net.Conn
	wire *narrow
}

func (c *narrowConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), 16<<10)])
	if n > 256 { // words pass beside
		c.wire.pass(0, n)
	}
	return n, err
}

func (c *narrowConn) Write(p []byte) (int, error) {
	sent := 0
	for {
		part := p[sent:min(len(p), sent+16<<10)]
		if len(part) > 256 {
			c.wire.pass(1, len(part))
		}
		n, err := c.Conn.Write(part)
		if sent += n; err != nil || sent == len(p) {
			return sent, err
		}
	}
}
