package change

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// The networks that cables get: of four addresses each, out of the part of
// 169.254/16 that RFC 3927 does not reserve. No router forwards them.
const (
	networkBits  = 30
	firstNetwork = 169<<24 | 254<<16 | 1<<8
	lastNetwork  = 169<<24 | 254<<16 | 254<<8 | 252
)

// linkLocal is the network of self-assigned addresses. That a Mac has one of them
// takes that address and not all of the others.
var linkLocal = netip.MustParsePrefix("169.254.0.0/16")

// address is an end's in a network: the low end of
// a cable has the first address, the high end the second.
func address(network uint32, low bool) netip.Prefix {
	host := network + 2
	if low {
		host = network + 1
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{byte(host >> 24), byte(host >> 16), byte(host >> 8), byte(host)}), networkBits)
}

// networkOf is the network that an address of a cable is in.
func networkOf(p netip.Prefix) uint32 {
	octets := p.Addr().As4()
	return binary.BigEndian.Uint32(octets[:]) &^ 3
}

// Mate is the address of the other end.
func Mate(p netip.Prefix) netip.Prefix {
	network := networkOf(p)
	return address(network, p != address(network, true))
}

// IsCable reports whether an address is one that an end of a cable can be given.
func IsCable(p netip.Prefix, low bool) bool {
	if !p.IsValid() || !p.Addr().Is4() || p.Bits() != networkBits {
		return false
	}
	network := networkOf(p)
	return network >= firstNetwork && network <= lastNetwork && p == address(network, low)
}

// FirstFree is an end's address in the first network, from that of wanted on, that
// overlaps none of taken; false where none is left. Without wanted it begins with
// the first there is.
func FirstFree(wanted netip.Prefix, low bool, taken []netip.Prefix) (netip.Prefix, bool) {
	from := uint32(firstNetwork)
	if IsCable(wanted, low) {
		from = networkOf(wanted)
	}
	for network := from; network <= lastNetwork; network += 4 {
		one := address(network, low)
		if !slices.ContainsFunc(taken, func(t netip.Prefix) bool { return takes(t, one.Masked()) }) {
			return one, true
		}
	}
	return netip.Prefix{}, false
}

// takes reports whether an address in use keeps a network from being used.
func takes(used, network netip.Prefix) bool {
	if used.Bits() <= linkLocal.Bits() && linkLocal.Contains(used.Addr()) {
		return network.Contains(used.Addr())
	}
	return network.Overlaps(used)
}
