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
	// Listen accepts connections to a local address of the interface, at a port
	// (0 = any that is free), and answers by the interface. Listeners of several
	// addresses may share a port; a link-local address of IPv6 needs no zone.
	//
	// An invalid address stands for every address of the machine. Such a
	// listener does not tell interfaces apart: Linux takes what arrives by the
	// interface only, but macOS gives every connection to the oldest listener
	// of the port, whatever its interface, and answers by the interface of that
	// listener. A listener at an exact address comes before those on both.
	Listen(ctx context.Context, iface string, at netip.AddrPort) (net.Listener, error)
	// Dial connects by the interface only; an empty one leaves it to the
	// system's routes. source is the local address, the
	// system's choice where it is invalid; to has its zone where it is
	// link-local. Addresses of the connection are *net.TCPAddr.
	Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error)
}

// Zoned is an address as a socket of an interface has it: a link-local one of
// IPv6 means nothing without the zone, and no other address has one.
func Zoned(address netip.Addr, iface string) netip.Addr {
	address = address.WithZone("")
	if address.Is6() && address.IsLinkLocalUnicast() {
		return address.WithZone(iface)
	}
	return address
}

// NoSockets refuses everything with its reason.
type NoSockets struct{ Reason Reason }

// Listen is refused.
func (n NoSockets) Listen(context.Context, string, netip.AddrPort) (net.Listener, error) {
	return nil, Unsupported(FeatureSockets, n.Reason)
}

// Dial is refused.
func (n NoSockets) Dial(context.Context, string, netip.Addr, netip.AddrPort) (net.Conn, error) {
	return nil, Unsupported(FeatureSockets, n.Reason)
}
