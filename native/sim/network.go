package sim

import (
	"fmt"
	"net/netip"
	"slices"

	"fulmen/native"
)

// networkFacts tells the interfaces, bridges and services of a Mac.
func (w *World) networkFacts(m *mac) *native.Network {
	n := &native.Network{
		Interfaces: make([]native.Interface, 0, len(m.ifaces)),
		Bridges:    make([]native.Bridge, 0, len(m.bridges)),
		Services:   make([]native.NetworkService, 0, len(m.services)),
	}
	for _, i := range m.ifaces {
		if i.present {
			n.Interfaces = append(n.Interfaces, i.facts())
		}
	}
	for _, b := range m.bridges {
		n.Bridges = append(n.Bridges, native.Bridge{
			Name: b.name, KernelMembers: presentMembers(m, b), StoredMembers: append([]string{}, b.stored...),
			Active: new(m.iface(b.name).up),
		})
	}
	for _, s := range m.services {
		s.Addresses = slices.Clone(s.Addresses)
		n.Services = append(n.Services, s)
	}
	if primary := m.primary(); primary != nil {
		n.PrimaryInterface = primary.spec.Name
	} else {
		n.Unknown.Add("primary_interface", native.ReasonNotConnected)
	}
	return n
}

func (i *iface) facts() native.Interface {
	spec := &i.spec
	f := native.Interface{
		Name: spec.Name, Type: spec.Type, DisplayName: spec.DisplayName, Index: i.index,
		Addresses: make([]native.InterfaceAddress, 0, len(i.addresses)),
		Up:        new(true), Link: new(i.up), Expensive: new(spec.Expensive),
	}
	if spec.Type != native.InterfaceLoopback && spec.Type != native.InterfaceVPN {
		f.HardwareAddress = i.hardware.String()
	}
	for _, a := range i.addresses {
		if a.ready {
			f.Addresses = append(f.Addresses, a.InterfaceAddress)
		}
	}
	if i.portNumber != 0 {
		f.PortNumber = new(i.portNumber)
	}
	if spec.MTUBytes != 0 {
		f.MTUBytes = new(spec.MTUBytes)
	}
	unreported(&f.Unknown, spec.MTUBytes == 0, "mtu_bytes")
	switch {
	case spec.SpeedBitsPerS == 0:
		unreported(&f.Unknown, true, "speed_bits_per_s")
	case !i.up:
		f.Unknown.Add("speed_bits_per_s", native.ReasonNotConnected)
	default:
		f.SpeedBitsPerS = new(spec.SpeedBitsPerS)
	}
	return f
}

// presentMembers are the members that exist: an interface that goes leaves the
// kernel's bridge and not the stored one.
func presentMembers(m *mac, b *bridge) []string {
	members := make([]string, 0, len(b.kernel))
	for _, name := range b.kernel {
		if i := m.iface(name); i != nil && i.present {
			members = append(members, name)
		}
	}
	return members
}

// primary is the interface that carries the default route: the first, in the
// order of the scenario, that is plugged into a network and has an IPv4 address
// which was not self-assigned. Cables between Macs lead nowhere else.
func (m *mac) primary() *iface {
	for _, i := range m.ifaces {
		routable := func(a address) bool {
			return a.ready && a.Address.Addr().Is4() && !a.Address.Addr().IsLinkLocalUnicast()
		}
		if i.up && i.spec.Network != "" && i.spec.Type != native.InterfaceVPN && slices.ContainsFunc(i.addresses, routable) {
			return i
		}
	}
	return nil
}

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
		for _, other := range w.received(plugAt{m, i}) {
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

// received returns the interfaces of other Macs that a frame from this one comes to.
// Circles of bridges end where the frame has been before; that they would be a
// storm on a real desk is for the topology to say.
func (w *World) received(from plugAt) []plugAt {
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
	if at.iface.portNumber != 0 {
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

const gigabit int64 = 1_000_000_000

// linksOf are a link of this speed, which cables train to, as its two ends report it.
func linksOf(speed native.LinkSpeed) (there, back native.Link) {
	lanes := map[int64][3]int64{10: {10, 1, 1}, 20: {10, 2, 2}, 40: {20, 2, 2}, 80: {40, 2, 2}, 120: {40, 3, 1}}[max(speed.TxBitsPerS, speed.RxBitsPerS)/gigabit]
	rate, out, in := lanes[0]*gigabit, int(lanes[1]), int(lanes[2])
	if speed.TxBitsPerS < speed.RxBitsPerS {
		out, in = in, out
	}
	there, _ = native.LinkFromLanes(rate, out, in)
	back, _ = native.LinkFromLanes(rate, in, out)
	return there, back
}

// setMember takes an interface out of a bridge or puts it in, running and
// stored. Being so already is success. As on macOS an interface with an IPv4
// address cannot join, nor one that is in another bridge.
func (m *mac) setMember(name string, i *iface, member bool) error {
	b := m.bridge(name)
	if b == nil {
		return fmt.Errorf("no bridge %q: %w", name, native.ErrNotFound)
	}
	if !member || slices.Contains(b.kernel, i.spec.Name) && slices.Contains(b.stored, i.spec.Name) {
		b.setMember(i.spec.Name, member)
		return nil
	}
	if m.bridge(i.spec.Name) != nil {
		return fmt.Errorf("%s is a bridge itself: %w", i.spec.Name, native.ErrExists)
	}
	if other := m.bridgeOf(i.spec.Name); other != nil && other != b {
		return fmt.Errorf("%s is in %s: %w", i.spec.Name, other.name, native.ErrExists)
	}
	if slices.ContainsFunc(i.addresses, func(a address) bool { return a.ready && a.Address.Addr().Is4() }) {
		return fmt.Errorf("a bridge cannot take an interface that has an address: %w", native.ErrStale)
	}
	b.setMember(i.spec.Name, true)
	return nil
}

func (b *bridge) setMember(name string, member bool) {
	for _, list := range []*[]string{&b.kernel, &b.stored} {
		*list = slices.DeleteFunc(*list, func(other string) bool { return other == name })
		if member {
			*list = append(*list, name)
			slices.Sort(*list)
		}
	}
}
