package scenario

import (
	"fmt"
	"net/netip"
)

// checkAddresses refuses an address that two interfaces of one network have, or
// the two ends of a cable: neither would be reached.
func (s Scenario) checkAddresses(p *problems) {
	type place struct {
		where   string // the network, or the cable
		address netip.Addr
	}
	seen := map[place]string{}
	note := func(where, path, who string, addresses []netip.Addr) {
		for _, address := range addresses {
			at := place{where, address}
			if first, ok := seen[at]; ok && first != who {
				p.add(path, "%s: address %s is also that of %s on the same network; give each its own", who, address, first)
				continue
			}
			seen[at] = who
		}
	}
	for i, mac := range s.Macs {
		for _, network := range mac.Interfaces {
			var addresses []netip.Addr
			for _, a := range network.Addresses {
				addresses = append(addresses, a.Address.Addr())
			}
			where := network.Network
			if where == "" {
				where = s.cableOf(mac, network.Name)
			}
			if where != "" {
				note(where, fmt.Sprintf("mac[%d].%s", i, member("interface", network.Name)), mac.Name+" "+network.Name, addresses)
			}
		}
	}
}

// cableOf names the segment that a port's interface shares with the Macs at the
// other end: all that are joined get the same name, that of the least end. ""
// for an interface that no cable joins.
func (s Scenario) cableOf(mac Mac, name string) string {
	for _, port := range mac.Ports {
		if port.Interface != name {
			continue
		}
		own := End{Owner: mac.Name, Receptacle: port.Receptacle}
		least := own.String()
		peers := s.peers(own)
		for _, peer := range peers {
			least = min(least, peer.String())
		}
		if len(peers) > 0 {
			return least
		}
	}
	return ""
}
