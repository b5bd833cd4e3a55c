package sim

import (
	"net/netip"
	"slices"
	"strconv"
	"time"

	"fulmen/native"
)

// How long after a link came up an address of each origin is there. Manual ones
// and those of unknown origin stay while the link is away. The values are of
// the order seen on real Macs, where a self-assigned IPv4 address can take far
// longer.
const (
	// DelayDHCP is an exchange with a DHCP server.
	DelayDHCP = 2 * time.Second
	// DelayIPv6 is the check that an IPv6 address is unique on its link.
	DelayIPv6 = time.Second
	// DelaySelfAssigned is the wait for a DHCP server that is not there and the
	// check that the address chosen instead is free (RFC 3927).
	DelaySelfAssigned = 8 * time.Second
)

// delay is how long an address takes to come back; stays, that it never goes.
func (a address) delay() (d time.Duration, stays bool) {
	switch {
	case a.Origin == native.OriginManual || a.Origin == native.OriginUnknown:
		return 0, true
	case a.Address.Addr().Is6():
		return DelayIPv6, false
	case a.Origin == native.OriginLinkLocal:
		return DelaySelfAssigned, false
	}
	return DelayDHCP, false
}

// assignAnew changes the IPv4 addresses that a Mac assigned itself, as a new
// start does.
func (i *iface) assignAnew(world string, m *mac) {
	for k, a := range i.addresses {
		if a.Origin == native.OriginLinkLocal && a.Address.Addr().Is4() {
			fresh := selfAssigned(world, m.spec.Name, i.spec.Name, strconv.Itoa(m.boots), strconv.Itoa(k))
			i.addresses[k].Address = netip.PrefixFrom(fresh, a.Address.Bits())
		}
	}
}

// settle follows what a change did to the links of interfaces: addresses go with
// a link, or when a bridge takes the interface, and come back some time after it. first is the state that a world
// begins with, in which everything has long been there.
func (w *World) settle(first bool) {
	for _, m := range w.macs {
		for _, i := range m.ifaces {
			i.up = w.linkUp(m, i)
			speaks := i.up && m.bridgeOf(i.spec.Name) == nil
			if speaks == i.speaks && !first {
				continue
			}
			i.speaks = speaks
			for k := range i.addresses {
				_, stays := i.addresses[k].delay()
				i.addresses[k].ready = stays || speaks && first
			}
			w.awaitAddresses(i)
		}
	}
}

// awaitAddresses arms one wait for each delay among the addresses that are not
// there, instead of those armed before.
func (w *World) awaitAddresses(i *iface) {
	for _, pending := range i.waits {
		w.cancelLocked(pending)
	}
	i.waits = nil
	if !i.speaks {
		return
	}
	var delays []time.Duration
	for _, a := range i.addresses {
		if d, _ := a.delay(); !a.ready && !slices.Contains(delays, d) {
			delays = append(delays, d)
		}
	}
	for _, d := range delays {
		i.waits = append(i.waits, w.afterLocked(d, "sim.address", func() {
			for k := range i.addresses {
				if own, _ := i.addresses[k].delay(); own <= d {
					i.addresses[k].ready = true
				}
			}
		}))
	}
}

// linkUp reports whether something answers at the other end of an interface. A
// port's link needs a computer below the port whose own interface is there and
// not pulled; a hub alone does not do. A bridge's needs one of its members'.
// Ethernet and Wi-Fi need a network that is up; loopback and tunnels need none.
func (w *World) linkUp(m *mac, i *iface) bool {
	if !m.runs() || !i.present || !i.linked {
		return false
	}
	if b := m.bridge(i.spec.Name); b != nil {
		return slices.ContainsFunc(b.kernel, func(name string) bool {
			member := m.iface(name)
			return member != nil && w.linkUp(m, member)
		})
	}
	if i.portNumber != 0 {
		return len(w.wired(m, i)) != 0
	}
	if i.spec.Network != "" {
		return w.network(i.spec.Network).up
	}
	return slices.Contains([]native.InterfaceType{native.InterfaceLoopback, native.InterfaceVPN, native.InterfaceUnknown}, i.spec.Type)
}

// plugAt is an interface of a Mac, as frames find it.
type plugAt struct {
	mac   *mac
	iface *iface
}

// wired returns the interfaces that a port's interface has a Thunderbolt link
// to, whatever its own side is set to.
func (w *World) wired(m *mac, i *iface) []plugAt {
	var others []plugAt
	for _, peer := range w.below(m, i.portNumber).peers {
		other := peer.mac.iface(peer.port.Interface)
		if other != nil && other.present && other.linked {
			others = append(others, plugAt{peer.mac, other})
		}
	}
	return others
}
