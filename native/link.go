package native

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// LinkState says whether lanes are trained.
type LinkState string

// The states of a link.
const (
	LinkUp   LinkState = "up"
	LinkDown LinkState = "down"
)

// Link is what two ends of a cable negotiated. Tx and rx are seen from the end
// that reports it. When the state is down the numbers are absent.
type Link struct {
	State        LinkState  `json:"state"`
	Generation   Generation `json:"generation,omitzero"`
	LaneBitsPerS int64      `json:"lane_bits_per_s,omitzero"`
	TxLanes      int        `json:"tx_lanes,omitzero"`
	RxLanes      int        `json:"rx_lanes,omitzero"`
	TxBitsPerS   int64      `json:"tx_bits_per_s,omitzero"`
	RxBitsPerS   int64      `json:"rx_bits_per_s,omitzero"`
}

// Link width codes of the Thunderbolt registry.
const (
	WidthIdle   uint32 = 0
	WidthSingle uint32 = 1 // one lane each way
	WidthDual   uint32 = 2 // two lanes each way
	Width3Tx1Rx uint32 = 4 // asymmetric, three lanes out
	Width1Tx3Rx uint32 = 8 // asymmetric, three lanes in
)

// NegotiatedLink derives a link from the registry's per-lane speed code and
// width code. Either being 0 means that nothing is trained, a link that is
// down. The bandwidth that the registry prints beside them is not used: its
// meaning on asymmetric links is disputed between sources.
func NegotiatedLink(speedCode, widthCode uint32) (Link, error) {
	if speedCode == 0 || widthCode == WidthIdle {
		return Link{State: LinkDown}, nil
	}
	laneBits, _, err := LaneRate(speedCode)
	if err != nil {
		return Link{}, err
	}
	switch widthCode {
	case WidthSingle:
		return LinkFromLanes(laneBits, 1, 1)
	case WidthDual:
		return LinkFromLanes(laneBits, 2, 2)
	case Width3Tx1Rx:
		return LinkFromLanes(laneBits, 3, 1)
	case Width1Tx3Rx:
		return LinkFromLanes(laneBits, 1, 3)
	}
	return Link{}, fmt.Errorf("link width code %d is none of 1, 2, 4 (3 out, 1 in), 8 (1 out, 3 in)", widthCode)
}

// LinkFromLanes derives a link from the rate of one lane and the lanes each
// way, as Linux tells them. One or two lanes each way are possible at any rate;
// three and one only at 40 Gb/s a lane (USB4 v2).
func LinkFromLanes(laneBitsPerS int64, txLanes, rxLanes int) (Link, error) {
	link := Link{
		State: LinkUp, LaneBitsPerS: laneBitsPerS, TxLanes: txLanes, RxLanes: rxLanes,
		TxBitsPerS: laneBitsPerS * int64(txLanes), RxBitsPerS: laneBitsPerS * int64(rxLanes),
	}
	switch laneBitsPerS {
	case 10 * gigabit:
		link.Generation = Gen2
	case 20 * gigabit:
		link.Generation = Gen3
	case 40 * gigabit:
		link.Generation = Gen4
	default:
		return Link{}, fmt.Errorf("a lane of %d bit/s is none of 10, 20, 40 Gb/s", laneBitsPerS)
	}
	switch [2]int{txLanes, rxLanes} {
	case [2]int{1, 1}, [2]int{2, 2}:
		return link, nil
	case [2]int{3, 1}, [2]int{1, 3}:
		if link.Generation == Gen4 {
			return link, nil
		}
		return Link{}, fmt.Errorf("asymmetric lanes need 40 Gb/s a lane, not %d bit/s", laneBitsPerS)
	}
	return Link{}, fmt.Errorf("%d lanes out and %d in are no Thunderbolt link", txLanes, rxLanes)
}

// Speed returns the link's rates; both are 0 when it is down.
func (l Link) Speed() LinkSpeed {
	return LinkSpeed{TxBitsPerS: l.TxBitsPerS, RxBitsPerS: l.RxBitsPerS}
}

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
