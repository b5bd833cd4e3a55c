package sim

import (
	"crypto/sha256"
	"net"
	"net/netip"
	"slices"
	"strings"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// build makes what the scenario has, which was checked.
func (w *World) build() {
	for _, spec := range w.scenario.Networks {
		w.networks = append(w.networks, &network{spec: spec, up: true})
	}
	for _, spec := range w.scenario.Macs {
		m := &mac{
			spec: spec, power: awake, nextIndex: 1, nextService: 1,
			silent: map[native.Area]bool{}, handles: map[*handle]struct{}{},
		}
		w.buildInterfaces(m)
		w.started(m)
		w.macs = append(w.macs, m)
	}
	for _, c := range w.scenario.Cables {
		w.plug(c.Ends[0], c.Ends[1], c.Speed)
	}
}

func (w *World) buildInterfaces(m *mac) {
	specs := slices.Clone(m.spec.Interfaces)
	for _, b := range m.spec.Bridges {
		m.bridges = append(m.bridges, &bridge{name: b.Name, kernel: slices.Clone(b.Members), stored: slices.Clone(b.Members)})
		specs = append(specs, scenario.Interface{Name: b.Name, Type: native.InterfaceBridge, Addresses: b.Addresses})
	}
	for _, spec := range specs {
		m.ifaces = append(m.ifaces, w.buildInterface(m, spec))
	}
}

// buildInterface makes an interface. As on macOS it gives itself a link-local
// address of IPv6, where the scenario states none.
func (w *World) buildInterface(m *mac, spec scenario.Interface) *iface {
	i := &iface{spec: spec, present: true, index: m.nextIndex, linked: spec.LinkUp, hardware: hardwareAddress(w.scenario.Name, m.spec.Name, spec.Name)}
	m.nextIndex++
	if p := slices.IndexFunc(m.spec.Ports, func(p scenario.Port) bool { return p.Interface == spec.Name }); p >= 0 {
		i.portNumber = m.spec.Ports[p].PortNumber
	}
	if i.portNumber != 0 || m.bridge(spec.Name) != nil {
		i.linked = true // the cable or the members decide
	}
	for _, a := range spec.Addresses {
		i.addresses = append(i.addresses, address{InterfaceAddress: a})
	}
	if !slices.ContainsFunc(spec.Addresses, isLinkLocal6) && spec.Type != native.InterfaceLoopback {
		own := native.InterfaceAddress{Address: netip.PrefixFrom(eui64(i.hardware), 64), Origin: native.OriginLinkLocal}
		i.addresses = append(i.addresses, address{InterfaceAddress: own})
	}
	if spec.Service != "" {
		m.services = append(m.services, w.service(m, spec))
	}
	return i
}

func isLinkLocal6(a native.InterfaceAddress) bool {
	return a.Address.Addr().Is6() && a.Address.Addr().IsLinkLocalUnicast()
}

// service makes the service that an interface has from the start. Its method is
// the origin of its first IPv4 address.
func (w *World) service(m *mac, spec scenario.Interface) native.NetworkService {
	s := native.NetworkService{
		ID:   scenario.MakeUUID(w.scenario.Name, m.spec.Name, "service", spec.Name),
		Name: spec.Service, Interface: spec.Name, Enabled: true, IPv4: native.OriginUnknown,
	}
	for _, a := range spec.Addresses {
		if !a.Address.Addr().Is4() {
			continue
		}
		if s.IPv4 == native.OriginUnknown {
			s.IPv4 = a.Origin
		}
		if a.Origin == native.OriginManual {
			s.Addresses = append(s.Addresses, a.Address)
		}
	}
	return s
}

// sameNetwork reports whether two addresses reach each other without a router.
func sameNetwork(a, b netip.Prefix) bool {
	return a.Contains(b.Addr()) && b.Contains(a.Addr())
}

// digest makes bytes that are always the same for the same words, for the
// identifiers that a machine has and a scenario need not spell out.
func digest(words ...string) [32]byte {
	return sha256.Sum256([]byte(strings.Join(words, "\x00")))
}

// hardwareAddress makes a unicast MAC address of the locally administered range.
func hardwareAddress(words ...string) net.HardwareAddr {
	sum := digest(words...)
	sum[0] = sum[0]&^1 | 2
	return net.HardwareAddr(sum[:6])
}

// eui64 is the link-local address that follows from a MAC address (RFC 4291,
// appendix A).
func eui64(mac net.HardwareAddr) netip.Addr {
	return netip.AddrFrom16([16]byte{0xfe, 0x80, 8: mac[0] ^ 2, 9: mac[1], 10: mac[2], 11: 0xff, 12: 0xfe, 13: mac[3], 14: mac[4], 15: mac[5]})
}

// selfAssigned makes an IPv4 address of the range of RFC 3927 without its
// reserved ends.
func selfAssigned(words ...string) netip.Addr {
	sum := digest(words...)
	return netip.AddrFrom4([4]byte{169, 254, 1 + sum[0]%254, sum[1]})
}
