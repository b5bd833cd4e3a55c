package native

import (
	"context"
	"fmt"
	"math/bits"
	"net"
	"net/netip"
	"strconv"
	"strings"
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
	return Link{}, fmt.Errorf("link width code %d is not one of 1, 2, 4 (3 out, 1 in), 8 (1 out, 3 in)", widthCode)
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
		return Link{}, fmt.Errorf("a lane of %d bit/s is not one of 10, 20, 40 Gb/s", laneBitsPerS)
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
	return Link{}, fmt.Errorf("%d lanes out and %d in are not a Thunderbolt link", txLanes, rxLanes)
}

// Speed returns the link's rates; both are 0 when it is down.
func (l Link) Speed() LinkSpeed {
	return LinkSpeed{TxBitsPerS: l.TxBitsPerS, RxBitsPerS: l.RxBitsPerS}
}

// Route is the way to a router or a peer: one byte a hop, the lowest nearest the host,
// each the number of the adapter through which the hop leaves. 0 is the host's own
// router.
type Route uint64

// String is in the form of [Hub.Route]; the host's is "".
func (r Route) String() string {
	if r == 0 {
		return ""
	}
	return fmt.Sprintf("%#x", uint64(r))
}

// Hops is the number of cables between the host and there.
func (r Route) Hops() int { return (bits.Len64(uint64(r)) + 7) / 8 }

// Parent is the route without its last hop.
func (r Route) Parent() Route { return r &^ (0xff << (8 * max(0, r.Hops()-1))) }

// Below is what hangs there on an adapter.
func (r Route) Below(adapter int) Route { return r | Route(adapter)<<(8*r.Hops()) }

// Adapter is the number of the host's adapter through which it leaves.
func (r Route) Adapter() int { return int(r & 0xff) }

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

// Generation is the USB4 signalling generation of one lane.
type Generation string

// The generations and their rate per lane: 10, 20 and 40 Gb/s.
const (
	Gen2 Generation = "gen2"
	Gen3 Generation = "gen3"
	Gen4 Generation = "gen4"
)

// ThunderboltVersion is what a port is sold as.
type ThunderboltVersion string

// The versions. Only tb5 carries RDMA.
const (
	TB3 ThunderboltVersion = "tb3"
	TB4 ThunderboltVersion = "tb4"
	TB5 ThunderboltVersion = "tb5"
)

// Lane speed codes of the Thunderbolt registry: one bit per rate, used both as
// the current value and as a mask of what a port supports.
const (
	LaneCode40G uint32 = 2
	LaneCode20G uint32 = 4
	LaneCode10G uint32 = 8
)

// Router versions of the Thunderbolt registry.
const (
	RouterTB3    uint32 = 16
	RouterUSB4v1 uint32 = 32
	RouterUSB4v2 uint32 = 64
)

// LaneRate returns the bits per second and generation of a lane speed code.
// Code 0 means no link and is an error here, as is everything unlisted.
func LaneRate(code uint32) (bitsPerS int64, generation Generation, err error) {
	switch code {
	case LaneCode10G:
		return 10 * gigabit, Gen2, nil
	case LaneCode20G:
		return 20 * gigabit, Gen3, nil
	case LaneCode40G:
		return 40 * gigabit, Gen4, nil
	}
	return 0, "", fmt.Errorf("lane speed code %d is not one of 8 (10 Gb/s), 4 (20 Gb/s), 2 (40 Gb/s)", code)
}

// PortCapability derives what a port is from the mask of speeds its lanes
// support and the version of its router. The mask decides: a tb5 port is one
// whose lanes do 40 Gb/s. Below that only the router tells tb4 from tb3, and
// without it (0) the answer is an error, not a guess.
func PortCapability(supportedSpeeds, routerVersion uint32) (ThunderboltVersion, error) {
	const slower = LaneCode20G | LaneCode10G
	switch {
	case supportedSpeeds&LaneCode40G != 0:
		return TB5, nil
	case supportedSpeeds&slower == 0:
		return "", fmt.Errorf("supported speed mask %d names no known speed", supportedSpeeds)
	case routerVersion >= RouterUSB4v1:
		return TB4, nil
	case routerVersion == RouterTB3:
		return TB3, nil
	}
	return "", fmt.Errorf("speed mask %d with router version %d can be tb3 or tb4", supportedSpeeds, routerVersion)
}

const (
	megabit int64 = 1_000_000
	gigabit int64 = 1_000_000_000
	// maxLinkBitsPerS bounds what a text may claim, well above any cable's rate.
	maxLinkBitsPerS = 10_000 * gigabit
)

// LinkSpeed is a pair of rates. UpTo marks a limit ("Up to 120 Gb/s", what an
// idle port could do) as opposed to something negotiated.
type LinkSpeed struct {
	TxBitsPerS int64 `json:"tx_bits_per_s"`
	RxBitsPerS int64 `json:"rx_bits_per_s"`
	UpTo       bool  `json:"up_to,omitzero"`
}

// String writes "80 Gb/s", "120/40 Gb/s" (out/in), "Up to 120 Gb/s", and Mb/s
// where that is shorter, in the form that [ParseLinkSpeed] reads and exact to
// the kilobit.
func (s LinkSpeed) String() string {
	unit, name := gigabit, " Gb/s"
	if min(s.TxBitsPerS, s.RxBitsPerS) < gigabit || s.TxBitsPerS%megabit != 0 || s.RxBitsPerS%megabit != 0 {
		unit, name = megabit, " Mb/s"
	}
	text := decimal(s.TxBitsPerS, unit)
	if s.RxBitsPerS != s.TxBitsPerS {
		text += "/" + decimal(s.RxBitsPerS, unit)
	}
	if s.UpTo {
		text = "Up to " + text
	}
	return text + name
}

func decimal(bits, unit int64) string {
	text := fmt.Sprintf("%d.%03d", bits/unit, bits%unit/(unit/1000))
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// ParseLinkSpeed reads a speed as systems and people write it: "80 Gb/s",
// "Up to 120 Gb/s" (system_profiler), "40.0 Gb/s" (Linux sysfs), "80G",
// "120/40G" (out/in). The unit is one of Gb/s, Gbit/s, Gbps, G and the same
// with M. Zero, signs, exponents and more than 10 Tb/s are errors.
func ParseLinkSpeed(text string) (LinkSpeed, error) {
	rest, upTo := strings.CutPrefix(strings.TrimSpace(text), "Up to ")
	number, unit, err := cutUnit(strings.TrimSpace(rest))
	if err != nil {
		return LinkSpeed{}, fmt.Errorf("link speed %.40q: %w", text, err)
	}
	out, in, asymmetric := strings.Cut(number, "/")
	if !asymmetric {
		in = out
	}
	speed := LinkSpeed{UpTo: upTo}
	if speed.TxBitsPerS, err = parseRate(out, unit); err == nil {
		speed.RxBitsPerS, err = parseRate(in, unit)
	}
	if err != nil {
		return LinkSpeed{}, fmt.Errorf("link speed %.40q: %w", text, err)
	}
	return speed, nil
}

func cutUnit(text string) (number string, unit int64, err error) {
	for _, suffix := range []string{"b/s", "bit/s", "bps", ""} {
		for prefix, bits := range map[string]int64{"G": gigabit, "M": megabit} {
			if number, ok := strings.CutSuffix(text, prefix+suffix); ok {
				return strings.TrimSpace(number), bits, nil
			}
		}
	}
	return "", 0, fmt.Errorf("it has no unit such as Gb/s")
}

// parseRate reads digits with at most three decimals; floats would let NaN,
// exponents and rounding in.
func parseRate(number string, unit int64) (int64, error) {
	whole, decimals, _ := strings.Cut(number, ".")
	if len(whole) > 8 || len(decimals) > 3 {
		return 0, fmt.Errorf("%.40q has too many digits", number)
	}
	for _, r := range whole + decimals {
		if r < '0' || r > '9' {
			return 0, fmt.Errorf("%.40q is not a number", number)
		}
	}
	if whole == "" || strings.HasSuffix(number, ".") {
		return 0, fmt.Errorf("%.40q is not a number", number)
	}
	thousandths, err := strconv.ParseInt(whole+(decimals + "000")[:3], 10, 64)
	if err != nil {
		return 0, err
	}
	// The largest product is 99_999_999_999 * 1e6: no overflow.
	bits := thousandths * (unit / 1000)
	if bits == 0 || bits > maxLinkBitsPerS {
		return 0, fmt.Errorf("%s is outside 0 to 10 Tb/s", number)
	}
	return bits, nil
}
