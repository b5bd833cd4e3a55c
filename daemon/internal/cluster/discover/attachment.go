package discover

import (
	"net/netip"
	"slices"

	"fulmen/daemon/api"
)

// attachment is one of this node's interfaces as discovery sees it.
type attachment struct {
	name     string
	kind     api.InterfaceType
	prefixes []netip.Prefix // with its own addresses, without zones
	// isUsable says that others are searched here: it is up, and neither a VPN's
	// nor costly nor a part of a bridge.
	isUsable bool
	// isCable says that it leads to a Mac on a Thunderbolt cable and nowhere else.
	isCable bool
	// networks are those of IPv4, or where it has none the private ones of IPv6,
	// see [Remembered.fingerprint].
	networks []string
}

// attachments reads a network document.
func attachments(n api.Network) map[string]attachment {
	all := map[string]attachment{}
	for _, i := range n.Interfaces {
		a := attachment{name: i.Name, kind: i.Type, isCable: isCable(n, i)}
		a.isUsable = i.Up && (i.Link == nil || *i.Link) && i.Bridge == "" && (i.Expensive == nil || !*i.Expensive) &&
			slices.Contains([]api.InterfaceType{
				api.InterfaceWiFi, api.InterfaceEthernet, api.InterfaceThunderbolt, api.InterfaceBridge,
			}, i.Type)
		var four, six []string
		for _, address := range i.Addresses {
			if address.Tentative || !address.Address.IsValid() {
				continue
			}
			a.prefixes = append(a.prefixes, address.Address)
			if !isSelfAssigned(address.Address) {
				network := address.Address.Masked()
				if network.Addr().Is4() {
					four = append(four, network.String())
				} else if network.Addr().IsPrivate() {
					six = append(six, network.String())
				}
			}
		}
		if a.networks = four; len(four) == 0 {
			a.networks = six
		}
		all[i.Name] = a
	}
	return all
}

// isCable is true for Thunderbolt, and for a bridge of nothing else.
func isCable(n api.Network, i api.Interface) bool {
	if i.Type != api.InterfaceBridge {
		return i.Type == api.InterfaceThunderbolt
	}
	for _, member := range i.Members {
		at := slices.IndexFunc(n.Interfaces, func(other api.Interface) bool { return other.Name == member })
		if at < 0 || n.Interfaces[at].Type != api.InterfaceThunderbolt {
			return false
		}
	}
	return len(i.Members) > 0
}

// isSelfAssigned is true for addresses that are the same network on every link,
// so that they say nothing of who is on it. A small network cut out of
// 169.254/16, as a configured cable has, is not meant.
func isSelfAssigned(p netip.Prefix) bool {
	return p.Addr().IsLinkLocalUnicast() && (p.Addr().Is6() || p.Bits() <= 16)
}

// isSelfAssignedToo reports whether an address of 169.254/16 may be on the same
// link, because the interface has one too. On Thunderbolt it is known who is at
// the other end.
func (a attachment) isSelfAssignedToo(p netip.Prefix) bool {
	return p.Addr().Is4() && isSelfAssigned(p) && a.kind != api.InterfaceThunderbolt &&
		slices.ContainsFunc(a.prefixes, func(own netip.Prefix) bool {
			return own.Addr().Is4() && isSelfAssigned(own) && own.Addr() != p.Addr()
		})
}

// reaches reports whether an address is in one of the interface's networks, and
// is another's.
func (a attachment) reaches(address netip.Addr) bool {
	in := false
	for _, p := range a.prefixes {
		if p.Addr() == address {
			return false
		}
		in = in || !isSelfAssigned(p) && p.Contains(address)
	}
	return in
}

// tailnet are the addresses that Tailscale and its like give to tunnels.
var tailnet = netip.MustParsePrefix("100.64.0.0/10")

// isTailnetToo reports whether an address may be at the other end of the interface's tunnel.
func (a attachment) isTailnetToo(address netip.Addr) bool {
	return a.kind == api.InterfaceVPN && tailnet.Contains(address) && slices.ContainsFunc(a.prefixes, func(own netip.Prefix) bool {
		return tailnet.Contains(own.Addr()) && own.Addr() != address
	})
}
