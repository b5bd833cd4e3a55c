package sim

import (
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
	if i.receptacle != 0 {
		f.Receptacle = new(i.receptacle)
	}
	if spec.MTUBytes != 0 {
		f.MTUBytes = new(spec.MTUBytes)
	}
	untold(&f.Unknown, spec.MTUBytes == 0, "mtu_bytes")
	switch {
	case spec.SpeedBitsPerS == 0:
		untold(&f.Unknown, true, "speed_bits_per_s")
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
