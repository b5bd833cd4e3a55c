package probe

import (
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/profile"
	"fulmen/native"
	"fulmen/native/memnet"
)

// manyAddresses are as many beside one as cannot be measured with it.
func manyAddresses() (all []netip.Addr) {
	for i := range maxStreams {
		all = append(all, netip.AddrFrom4([4]byte{169, 254, 9, byte(i)}))
	}
	return all
}

var (
	secondLaptopAt = netip.MustParseAddr("169.254.2.1")
	secondStudioAt = netip.MustParseAddr("169.254.2.2")
	both           = profile.Path{
		Peer: studio, Interface: "en1", Source: laptopAt, Sink: studioAt,
		Beside: []profile.Path{{Peer: studio, Interface: "en2", Source: secondLaptopAt, Sink: secondStudioAt}},
	}
)

// onTwo runs a test over two cables, of which each carries so many bits a second.
func onTwo(t *testing.T, rates [2]float64, test func(r *rig)) {
	t.Helper()
	wires := []*narrow{{rate: rates[0]}, {rate: rates[1]}}
	within(t, func(node api.NodeID, cfg *Config) {
		if node == studio {
			cfg.Sockets = wiredAt{cfg.Sockets, map[netip.Addr]*narrow{studioAt: wires[0], secondStudioAt: wires[1]}}
		}
		first := cfg.Interface
		cfg.Interface = func(a netip.Addr) (string, bool) {
			switch {
			case node == laptop && a == secondLaptopAt:
				return "en2", true
			case node == studio && a == secondStudioAt:
				return "en6", true
			}
			return first(a)
		}
	}, func(r *rig) {
		r.network.Attach(string(laptop), "en2", "second", secondLaptopAt)
		r.network.Attach(string(studio), "en6", "second", secondStudioAt)
		r.network.SetQuality("second", memnet.Quality{Delay: 4 * time.Millisecond})
		test(r)
	})
}

// wiredAt has each address that is listened at on a wire of its own.
type wiredAt struct {
	native.Sockets
	wires map[netip.Addr]*narrow
}

func (w wiredAt) Listen(ctx context.Context, iface string, at netip.AddrPort) (net.Listener, error) {
	return wrapped{w.Sockets, w.wires[at.Addr()].hand}.Listen(ctx, iface, at)
}

// Two cables that are measured together give what both carry.
func TestTwoCablesTogether(t *testing.T) {
	onTwo(t, [2]float64{usualRate, usualRate}, func(r *rig) {
		is := is.New(r.t)
		for _, amount := range []Amount{AmountFull, AmountRefresh} {
			alone, err := r.laptop.Measure(r.t.Context(), m1, there, amount, quiet)
			is.NoErr(err)
			is.True(near(alone.UpBitsPerS, usualRate, 0.1))
			path := both
			path.Streams = 1 // one connection filled it
			result, err := r.laptop.Measure(r.t.Context(), m1, path, amount, quiet)
			is.NoErr(err)
			is.True(near(result.UpBitsPerS, 2*usualRate, 0.1))
			is.True(near(result.DownBitsPerS, 2*usualRate, 0.1))
			is.True(result.UpStreams%2 == 0) // as many over each
		}
	})
}

// A node of the version before gives leave for one path, and is not kept waiting.
func TestTogetherWithAnOlderNode(t *testing.T) {
	onTwo(t, [2]float64{usualRate, usualRate}, func(r *rig) {
		is := is.New(r.t)
		r.laptop.cfg.Peers = older{r.laptop.cfg.Peers}
		_, err := r.laptop.Measure(r.t.Context(), m1, both, AmountFull, quiet)
		is.Equal(api.AsError(err).Data.Reason, api.ReasonProtocolTooOld)
		r.pass(leastCost)
		is.Equal(r.held.Load(), int32(0))
		_, err = r.laptop.Measure(r.t.Context(), m1, there, AmountRTT, quiet)
		is.NoErr(err)
	})
}

// older is a peer that knows nothing of more than one address.
type older struct{ peer.Caller }

func (o older) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	p := params.(api.PeerMeasureParams)
	p.Beside = nil
	return o.Caller.Call(ctx, node, method, p, result)
}
