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
	rankWiFi
	rankUnknown
	rankVPN
	rankCostly = 10 // added
)

// usable are the interfaces by which peers can be reached now. macOS has more that are up
// and have addresses, all link-local: awdl0 and llw0, of which it does not tell what they
// are, and a tunnel or several of its own. A member of a bridge has its traffic on the bridge.
func usable(network api.Network) []transport.Interface {
	var all []transport.Interface
	for _, i := range network.Interfaces {
		rank, isKnown := rankOf(i.Type)
		if !isKnown || !i.Up || i.Link != nil && !*i.Link || i.Bridge != "" || i.Type == api.InterfaceBridge && len(i.Members) == 0 {
			continue
		}
		var addresses []netip.Prefix
		for _, a := range i.Addresses {
			if isOwn := rank >= rankUnknown && a.Address.Addr().IsLinkLocalUnicast(); !isOwn && !a.Tentative && a.Address.IsValid() {
				addresses = append(addresses, a.Address)
			}
		}
		if len(addresses) == 0 {
			continue
		}
		if i.Expensive != nil && *i.Expensive {
			rank += rankCostly
		}
		all = append(all, transport.Interface{Name: i.Name, Addresses: addresses, Rank: rank})
	}
	return all
}

// rankOf is the rank of a kind; false for one by which no peer is looked for.
func rankOf(t api.InterfaceType) (rank int, isKnown bool) {
	switch t {
	case api.InterfaceThunderbolt:
		return rankThunderbolt, true
	case api.InterfaceEthernet, api.InterfaceBridge:
		return rankEthernet, true
	case api.InterfaceWiFi:
		return rankWiFi, true
	case api.InterfaceUnknown:
		return rankUnknown, true
	case api.InterfaceVPN:
		return rankVPN, true
	}
	return 0, false
}
