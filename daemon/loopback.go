package daemon

import (
	"context"
	"net"
	"net/netip"

	"fulmen/native"
)

// withLoopback is a simulated Mac's sockets with the loopback interface of the
// machine below, which no simulated Mac has.
type withLoopback struct{ native.Sockets }

// Listen is [native.Sockets]'s.
func (s withLoopback) Listen(ctx context.Context, iface string, at netip.AddrPort) (net.Listener, error) {
	if iface != loopbackInterface {
		return s.Sockets.Listen(ctx, iface, at)
	}
	var c net.ListenConfig
	return c.Listen(ctx, "tcp", at.String())
}

// Dial is [native.Sockets]'s.
func (s withLoopback) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error) {
	if iface != loopbackInterface {
		return s.Sockets.Dial(ctx, iface, source, to)
	}
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: source.AsSlice()}}
	return d.DialContext(ctx, "tcp", to.String())
}
