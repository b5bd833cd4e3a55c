package native

import (
	"context"
	"net"
	"net/netip"
)

// FeatureSockets is the name under which NoSockets refuses. It is no feature
// that capabilities answer: without it a machine has no peers at all.
const FeatureSockets Feature = "sockets"

// Sockets opens TCP connections that keep to one network interface, so that a
// path is what it says it is. Binding to an address is not enough: two
// Thunderbolt ports can both be in 169.254/16, and a reply over the other one
// arrives just as well.
type Sockets interface {
	// Listen accepts connections that arrive by the interface, at a port (0 =
	// any that is free), of both address families. Listeners of several
	// interfaces may share a port.
	Listen(ctx context.Context, iface string, port int) (net.Listener, error)
	// Dial connects by the interface only; an empty one leaves it to the
	// system's routes. source is the local address, the
	// system's choice where it is invalid; to has its zone where it is
	// link-local. Addresses of the connection are *net.TCPAddr.
	Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error)
}

// NoSockets refuses everything with its reason.
type NoSockets struct{ Reason Reason }

// Listen is refused.
func (n NoSockets) Listen(context.Context, string, int) (net.Listener, error) {
	return nil, Unsupported(FeatureSockets, n.Reason)
}

// Dial is refused.
func (n NoSockets) Dial(context.Context, string, netip.Addr, netip.AddrPort) (net.Conn, error) {
	return nil, Unsupported(FeatureSockets, n.Reason)
}
