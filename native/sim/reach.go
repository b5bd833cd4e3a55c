package sim

import (
	"net/netip"
	"slices"
)

// Reach is an address of another Mac that would answer now.
type Reach struct {
	// Peer is the other Mac, PeerInterface its interface that has Address.
	Peer          string
	PeerInterface string
	// Interface is this Mac's, Source the address of it that is used.
	Interface string
	// Source and Address are of one family and one subnet. Link-local ones are
	// without zone: the interfaces are named.
	Source, Address netip.Addr
}

// Reach returns every pair of addresses over which a Mac and another would
// answer each other now, in the order of this Mac's interfaces. Both Macs run;
// the interfaces hear each other, over a cable between their ports or over a
// network that is up and not isolated; both addresses are on their interfaces,
// no longer tentative, and each lies in the other's prefix. A bridge is an
// interface with the addresses of its own, it speaks on all of its members, and
// forwards from one to the others, so that Macs may hear each other over third
// ones; its members speak for nobody else. Nothing is routed, and a Mac does not
// forward between peers behind one hub.
func (w *World) Reach(name string) []Reach {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.mac(name)
	if m == nil {
		return nil
	}
	var all []Reach
	for _, i := range m.ifaces {
		for _, other := range w.heard(plugAt{m, i}) {
			for _, pair := range pairs(i, other.iface) {
				all = append(all, Reach{
					Peer: other.mac.spec.Name, PeerInterface: other.iface.spec.Name,
					Interface: i.spec.Name, Source: pair[0], Address: pair[1],
				})
			}
		}
	}
	return all
}

// pairs returns the addresses of two interfaces that reach each other.
func pairs(i, other *iface) [][2]netip.Addr {
	var all [][2]netip.Addr
	for _, a := range i.addresses {
		for _, b := range other.addresses {
			usable := a.ready && b.ready && !a.Tentative && !b.Tentative
			if usable && sameNetwork(a.Address, b.Address) {
				all = append(all, [2]netip.Addr{a.Address.Addr(), b.Address.Addr()})
			}
		}
	}
	return all
}

// heard returns the interfaces of other Macs that a frame from this one comes to.
// Circles of bridges end where the frame has been before; that they would be a
// storm on a real desk is for the topology to say.
func (w *World) heard(from plugAt) []plugAt {
	if !from.iface.up || from.mac.bridgeOf(from.iface.spec.Name) != nil {
		return nil
	}
	var found []plugAt
	leaving := []plugAt{from}
	if b := from.mac.bridge(from.iface.spec.Name); b != nil {
		leaving = forwarded(from.mac, b, nil)
	}
	for at := 0; at < len(leaving); at++ {
		for _, other := range w.neighbours(leaving[at]) {
			entry := other
			if b := other.mac.bridgeOf(other.iface.spec.Name); b != nil {
				entry = plugAt{other.mac, other.mac.iface(b.name)}
				if !entry.iface.linked || !entry.iface.present {
					continue
				}
				for _, next := range forwarded(other.mac, b, other.iface) {
					if !slices.Contains(leaving, next) {
						leaving = append(leaving, next)
					}
				}
			}
			if entry.mac != from.mac && !slices.Contains(found, entry) {
				found = append(found, entry)
			}
		}
	}
	return found
}

// forwarded are the members on which a bridge sends what came in by one of them.
func forwarded(m *mac, b *bridge, in *iface) []plugAt {
	var out []plugAt
	for _, name := range b.kernel {
		if i := m.iface(name); i != nil && i != in && i.up {
			out = append(out, plugAt{m, i})
		}
	}
	return out
}

// neighbours are the interfaces at the other end of a cable, or on the same
// network.
func (w *World) neighbours(at plugAt) []plugAt {
	if !at.iface.up {
		return nil
	}
	if at.iface.receptacle != 0 {
		return w.wired(at.mac, at.iface)
	}
	n := w.network(at.iface.spec.Network)
	if n == nil || n.spec.Isolated {
		return nil
	}
	var others []plugAt
	for _, m := range w.macs {
		for _, i := range m.ifaces {
			if i != at.iface && i.up && i.spec.Network == n.spec.Name {
				others = append(others, plugAt{m, i})
			}
		}
	}
	return others
}
