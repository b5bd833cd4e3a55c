package topology

import (
	"cmp"
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// Network is one of several ways between nodes over sockets, as they are chosen among.
type Network struct {
	// Kind is what it is made of.
	Kind api.LinkKind
	// Addresses are those of its ends, as far as known.
	Addresses [2]netip.Addr
	// Interfaces are those of its ends, and Prefixes the networks of the addresses there; empty
	// where not known.
	Interfaces [2]string
	Prefixes   [2]netip.Prefix
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

// isWire reports whether it is a cable, Thunderbolt or Ethernet.
func (n Network) isWire() bool { return n.kindOrder() <= 1 }

// thunderbolt reports whether it is IP over a Thunderbolt cable.
func (n Network) thunderbolt() bool { return n.kindOrder() == 0 }

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

// IsSlow reports whether a node reaches another one over Wi-Fi, tunnels and what costs money
// alone. Where nothing is known of a path, it is not.
func (g Graph) IsSlow(from, to api.NodeID) (isSlow bool) {
	for _, p := range g.Paths {
		if p.From != from || p.To != to || p.State != api.PathActive || p.Stale {
			continue
		}
		if isSlow = p.Expensive || p.Kind == api.LinkWiFi || p.Kind == api.LinkVPN; !isSlow {
			return false
		}
	}
	return isSlow
}

// Between are the live paths from a node to another one, and those of them that carry their
// traffic beside each other, as of [Graph.Wires]; none where there is one such.
func (g Graph) Between(from, to api.NodeID) (live, beside []Path) {
	for _, p := range g.Paths {
		if p.From == from && p.To == to && p.State != api.PathFailed && !p.Stale {
			live = append(live, p)
		}
	}
	if groups := g.Wires(live); len(groups) > 0 {
		beside = groups[0]
	}
	return live, beside
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

// Choose gives the places of those of networks in order over which MLX's ring talks, the
// best first: the first, unless a later one was measured to be more than twice as fast; and
// if that is a wire, the other wires that carry traffic of their own. One whose speed is not
// known is not passed.
func Choose(ordered []Network) []int {
	best := 0
	for i, n := range ordered {
		if bits := ordered[best].BitsPerS; n.Measured && bits > 0 && n.BitsPerS > 2*bits {
			best = i
		}
	}
	if len(ordered) == 0 {
		return nil
	}
	chosen := []int{best}
	for i, n := range ordered {
		shares := func(k int) bool { return !n.isBeside(ordered[k]) }
		if ordered[best].isWire() && n.isWire() && !slices.ContainsFunc(chosen, shares) {
			chosen = append(chosen, i)
		}
	}
	return chosen
}

// isBeside reports whether two carry their traffic beside each other: over interfaces of
// their own at both ends, and not in one network, where the system would choose one
// interface for both. Thunderbolt cables are told apart by their peers.
func (n Network) isBeside(o Network) bool {
	for end, name := range n.Interfaces {
		isShared := n.Prefixes[end].IsValid() && n.Prefixes[end].Overlaps(o.Prefixes[end]) && n.kindOrder()+o.kindOrder() > 0
		if name == "" || name == o.Interfaces[end] || o.Interfaces[end] == "" || isShared {
			return false
		}
	}
	return true
}

// Wires are those of a node's live paths, in the order of peers, that carry their traffic
// beside each other, a group for each peer to which there are several of one kind: cables,
// else Ethernet. A group is in the order of [Network].
func (g Graph) Wires(paths []Path) (groups [][]Path) {
	for len(paths) > 0 {
		end := slices.IndexFunc(paths, func(p Path) bool { return p.To != paths[0].To })
		if end < 0 {
			end = len(paths)
		}
		if group := g.wires(paths[:end]); len(group) > 1 {
			groups = append(groups, group)
		}
		paths = paths[end:]
	}
	return groups
}

// wires are those of one pair.
func (g Graph) wires(paths []Path) (group []Path) {
	over := func(p Path) Network { return g.network(&p, 1, p.Address, nil) }
	paths = slices.DeleteFunc(slices.Clone(paths), func(p Path) bool {
		return p.State == api.PathFailed || p.Stale || p.Expensive || !p.Address.Is4() || !p.Source.Is4() || !over(p).isWire()
	})
	slices.SortFunc(paths, func(a, b Path) int { return cmp.Or(over(a).Compare(over(b)), a.Address.Compare(b.Address)) })
	var ordered []Network
	for _, p := range paths {
		if n := over(p); n.kindOrder() == over(paths[0]).kindOrder() {
			ordered = append(ordered, n)
		}
	}
	for _, i := range Choose(ordered) {
		group = append(group, paths[i])
	}
	return group[:min(len(group), MaxCables)]
}
