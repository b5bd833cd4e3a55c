package sim

import (
	"net/netip"
	"slices"
	"syscall"

	"fulmen/native"
)

// firstPort is the first of those that are given to who asks for none, as IANA
// has it.
const firstPort = 49152

// openPort is a port of a Mac that is open at an address of an interface.
type openPort struct {
	handle  *handle
	iface   string     // empty: of any
	address netip.Addr // without zone; invalid: all of the Mac's
	port    int
	at      netip.AddrPort // where connections are taken on loopback
}

// open opens an open port of the handle's Mac.
func (h *handle) open(d *openPort) error {
	w := h.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.ended {
		return syscall.ENETDOWN
	}
	if i := h.mac.iface(d.iface); d.iface != "" && (i == nil || !i.present) {
		return syscall.ENODEV
	}
	d.address = d.address.WithZone("")
	if d.address.IsValid() && !h.mac.has(d.iface, d.address) {
		return syscall.EADDRNOTAVAIL
	}
	if d.port == 0 {
		d.port = h.mac.freePort()
	}
	if slices.ContainsFunc(h.mac.openPorts, d.clashes) {
		return syscall.EADDRINUSE
	}
	d.handle = h
	h.mac.openPorts = append(h.mac.openPorts, d)
	return nil
}

// shut closes an open port. Closing twice is harmless.
func (h *handle) shut(d *openPort) {
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	h.mac.openPorts = slices.DeleteFunc(h.mac.openPorts, func(other *openPort) bool { return other == d })
}

// clashes reports whether two open ports cannot be open at once. An address that is on
// two interfaces is one address, except of the link-local ones of IPv6.
func (d *openPort) clashes(other *openPort) bool {
	isOne := d.address.IsValid() && native.Zoned(d.address, d.iface).Zone() == ""
	return other.port == d.port && other.address == d.address &&
		(isOne || other.iface == d.iface || other.iface == "" || d.iface == "")
}

// has reports whether an address is on an interface now; an empty one is any.
func (m *mac) has(name string, wanted netip.Addr) bool {
	return slices.ContainsFunc(m.ifaces, func(i *iface) bool {
		return (name == "" || i.spec.Name == name) && slices.ContainsFunc(i.addresses, func(a address) bool {
			return a.ready && !a.Tentative && a.Address.Addr() == wanted
		})
	})
}

// openPort is the one to which a connection to an address of an interface comes, by
// the rule of macOS: an open port at the address comes before those at all addresses,
// of which the oldest gets it whatever its interface is.
func (m *mac) openPort(iface string, address netip.Addr, port int) *openPort {
	var wild *openPort
	for _, d := range m.openPorts {
		switch {
		case d.port != port:
		case d.address.IsValid() && d.address == address && (d.iface == "" || native.Zoned(address, d.iface) == native.Zoned(address, iface)):
			return d
		case !d.address.IsValid() && wild == nil:
			wild = d
		}
	}
	return wild
}

// answersLocked reports whether what an open port says reaches who has called: it leaves by
// the open port's interface.
func (d *openPort) answersLocked(w *World, f *flow) bool {
	far := f.ends[1].at
	if d.iface == "" || d.iface == far.iface.spec.Name {
		return true
	}
	by := far.mac.iface(d.iface)
	return by != nil && slices.Contains(w.received(plugAt{far.mac, by}), f.ends[0].at)
}

// freePort is the next port at which no open port is open.
func (m *mac) freePort() int {
	for {
		port := firstPort + m.nextPort%(65536-firstPort)
		m.nextPort++
		if !slices.ContainsFunc(m.openPorts, func(d *openPort) bool { return d.port == port }) {
			return port
		}
	}
}
