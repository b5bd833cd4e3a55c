package probe

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/profile"
	"fulmen/native"
	"fulmen/native/bound"
)

// loopback is the name of this machine's.
func loopback(t testing.TB) string {
	all, err := net.Interfaces()
	if err != nil {
		t.Skip(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 && i.Flags&net.FlagUp != 0 {
			return i.Name
		}
	}
	t.Skip("no loopback")
	return ""
}

// A node measures its own loopback, over the system's sockets.
func TestLoopback(t *testing.T) {
	is := is.New(t)
	clock, err := native.SystemClock()
	is.NoErr(err)
	iface, address := loopback(t), netip.MustParseAddr("127.0.0.1")
	p := New(Config{
		Peers: peer.New(laptop, peertest.NewNetwork().Add(laptop), peertest.GateFor(laptop, clock, nil)), Sockets: bound.Sockets{}, Clock: clock, Key: key(laptop), Members: members,
		Leave:     func(context.Context, api.NodeID, api.PeerMeasureParams) (func(), error) { return func() {}, nil },
		Interface: func(a netip.Addr) (string, bool) { return iface, a == address },
		Log:       slog.New(slog.DiscardHandler),
	})
	defer p.Close()
	path := profile.Path{Peer: laptop, Interface: iface, Source: address, Sink: address}
	result, err := p.Measure(t.Context(), m1, path, AmountRefresh, quiet)
	for range 5 { // a busy machine may not know its own numbers, or be too slow
		if err == nil {
			break
		}
		t.Log(err)
		result, err = p.Measure(t.Context(), m1, path, AmountRefresh, quiet)
	}
	is.NoErr(err)
	is.True(*result.UpBitsPerS > 1e6) // on however busy a machine
	is.True(*result.DownBitsPerS > 1e6)
	is.True(*result.RTTUS > 1 && *result.RTTUS < 1e6)
	is.True(*result.JitterUS >= 0)
	is.True(result.RTTSamples >= 10)
	if result.LossRatio != nil {
		is.True(*result.LossRatio < 0.5)
	}
	if testing.Verbose() {
		full, err := p.Measure(t.Context(), m1, path, AmountFull, func(step string, done float64) { t.Log(step, done) })
		is.NoErr(err)
		for _, r := range []Result{result, full} {
			t.Logf("up %.2f Gb/s, down %.2f Gb/s, RTT %.1f us, jitter %.1f us, %d streams, %.1f MB",
				float64(*r.UpBitsPerS)/1e9, float64(*r.DownBitsPerS)/1e9, *r.RTTUS, *r.JitterUS, r.Streams, float64(r.MovedBytes)/1e6)
		}
	}
}
