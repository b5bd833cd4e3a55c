package node

import (
	"net/netip"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
)

// The ranks of interfaces: what carries the most, and belongs to nobody else,
// comes first.
const (
	rankThunderbolt = iota + 1
	rankEthernet
	rankUnknown
	rankWiFi
	rankVPN
	rankLoopback
	rankCostly = 10 // added
)

// usable are the interfaces by which peers can be reached now. A member of a
// bridge has its traffic on the bridge.
func usable(network api.Network) []transport.Interface {
	var all []transport.Interface
	for _, i := range network.Interfaces {
		if !i.Up || i.Link != nil && !*i.Link || i.Bridge != "" {
			continue
		}
		var addresses []netip.Prefix
		for _, a := range i.Addresses {
			if !a.Tentative && a.Address.IsValid() {
				addresses = append(addresses, a.Address)
			}
		}
		if len(addresses) == 0 {
			continue
		}
		rank := rankOf(i.Type)
		if i.Expensive != nil && *i.Expensive {
			rank += rankCostly
		}
		all = append(all, transport.Interface{Name: i.Name, Addresses: addresses, Rank: rank})
	}
	return all
}

func rankOf(t api.InterfaceType) int {
	switch t {
	case api.InterfaceThunderbolt:
		return rankThunderbolt
	case api.InterfaceEthernet, api.InterfaceBridge:
		return rankEthernet
	case api.InterfaceWiFi:
		return rankWiFi
	case api.InterfaceVPN:
		return rankVPN
	case api.InterfaceLoopback:
		return rankLoopback
	}
	return rankUnknown
}

// zoned is an address as it is dialled by an interface: a link-local one of IPv6
// means nothing without the interface's name.
func zoned(address netip.Addr, iface string) netip.Addr {
	if address.Is6() && address.IsLinkLocalUnicast() {
		return address.WithZone(iface)
	}
	return address
}
