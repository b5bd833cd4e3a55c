package topology

import (
	"cmp"
	"net/netip"

	"fulmen/daemon/api"
)

// Network is one of several ways between nodes over sockets, as they are chosen among.
type Network struct {
	// Kind is what it is made of.
	Kind api.LinkKind
	// Addresses are those of its ends, as far as known.
	Addresses [2]netip.Addr
	// BitsPerS is its slower direction, 0 where not known, and Measured says that it was
	// measured and not negotiated.
	BitsPerS int64
	Measured bool
}

// Compare orders networks as people expect: by kind, then the private addresses of a LAN
// before others. Of cables the faster one comes first, whatever its addresses.
func (n Network) Compare(o Network) int {
	speed, addresses := cmp.Compare(o.BitsPerS, n.BitsPerS), cmp.Compare(n.addressOrder(), o.addressOrder())
	if n.kindOrder() == 0 {
		speed, addresses = addresses, speed
	}
	return cmp.Or(cmp.Compare(n.kindOrder(), o.kindOrder()), addresses, speed)
}

// Wire reports whether it is a cable, Thunderbolt or Ethernet.
func (n Network) Wire() bool { return n.kindOrder() <= 1 }

// kindOrder is the place of its kind.
func (n Network) kindOrder() int {
	switch n.Kind {
	case api.LinkTB3, api.LinkTB4, api.LinkTB5:
		return 0
	case api.LinkEthernet:
		return 1
	case api.LinkWiFi:
		return 2
	case api.LinkVPN:
		return 4
	}
	return 3
}

// sharedAddresses are those that carriers, and tunnels such as Tailscale, give out.
var sharedAddresses = netip.MustParsePrefix("100.64.0.0/10")

// addressOrder is the place of the end that comes later: private addresses (RFC 1918,
// and fc00::/7), then self-assigned, public and shared ones.
func (n Network) addressOrder() (place int) {
	for _, a := range n.Addresses {
		switch {
		case !a.IsValid() || a.IsPrivate():
		case a.IsLinkLocalUnicast():
			place = max(place, 1)
		case sharedAddresses.Contains(a):
			place = max(place, 3)
		default:
			place = max(place, 2)
		}
	}
	return place
}

// First is the place of the best of networks, which are in order: the first, unless a
// later one was measured to be more than twice as fast. One whose own speed is not known
// is not passed.
func First(ordered []Network) (at int) {
	for i, n := range ordered {
		if best := ordered[at].BitsPerS; n.Measured && best > 0 && n.BitsPerS > 2*best {
			at = i
		}
	}
	return at
}
