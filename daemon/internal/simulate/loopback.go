package simulate

import (
	"context"
	"crypto/sha256"
	"net"
	"net/netip"
	"runtime"

	"fulmen/daemon/api"
	"fulmen/native"
)

// LoopbackInterface is the name of the loopback interface of the machine that the
// process runs on.
var LoopbackInterface = map[bool]string{true: "lo0", false: "lo"}[runtime.GOOS == "darwin"]

// Loopback is the address of that interface.
func Loopback() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }

// withLoopback is a simulated Mac's sockets with the loopback interface of the
// machine below, which no simulated Mac has.
type withLoopback struct{ native.Sockets }

// Listen implements [native.Sockets].
func (s withLoopback) Listen(ctx context.Context, iface string, at netip.AddrPort) (net.Listener, error) {
	if iface != LoopbackInterface {
		return s.Sockets.Listen(ctx, iface, at)
	}
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", at.String())
}

// Dial implements [native.Sockets].
func (s withLoopback) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error) {
	if iface != LoopbackInterface {
		return s.Sockets.Dial(ctx, iface, source, to)
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: source.AsSlice()}}
	return d.DialContext(ctx, "tcp", to.String())
}

// StandIn is an address that stands for one of a simulated Mac's. Simulated Macs are on
// one machine: the programs of their ranks have its loopback, and a port that is
// published there lies beside it.
func StandIn(what string, node api.NodeID) netip.Addr {
	sum := sha256.Sum256([]byte(what + " " + string(node)))
	return netip.AddrFrom4([4]byte{127, sum[0], sum[1], min(max(sum[2], 2), 254)})
}

// WithLoopback finds the interface of an address of a simulated Mac, or of the machine
// below.
func WithLoopback(of func(netip.Addr) (string, bool)) func(netip.Addr) (string, bool) {
	return func(sink netip.Addr) (iface string, ok bool) {
		if sink.IsLoopback() {
			return LoopbackInterface, true
		}
		return of(sink)
	}
}
