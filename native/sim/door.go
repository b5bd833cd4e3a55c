package sim

import (
	"net/netip"
	"slices"
	"syscall"

	"fulmen/native"
	"fulmen/native/memnet"
)

// firstPort is the first of those that are given to who asks for none, as IANA
// has it.
const firstPort = 49152

// door is a port of a Mac that is open at an address of an interface.
type door struct {
	handle  *handle
	iface   string     // empty: of any
	address netip.Addr // without zone; invalid: all of the Mac's
	port    int
	// at is where connections are taken on loopback; take takes one in memory.
	at   netip.AddrPort
	take func(*memnet.Conn, *flow) bool
}

// open opens a door of the handle's Mac.
func (h *handle) open(d *door) error {
	w := h.world
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case h.ended:
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
	if slices.ContainsFunc(h.mac.doors, d.clashes) {
		return syscall.EADDRINUSE
	}
	d.handle = h
	h.mac.doors = append(h.mac.doors, d)
	return nil
}

// shut closes a door. Closing twice is harmless.
func (h *handle) shut(d *door) {
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	h.mac.doors = slices.DeleteFunc(h.mac.doors, func(other *door) bool { return other == d })
}

// clashes reports whether two doors cannot be open at once. An address that is on
// two interfaces is one address, except of the link-local ones of IPv6.
func (d *door) clashes(other *door) bool {
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

// door is the one to which a connection to an address of an interface comes, by
// the rule of macOS: a door at the address comes before those at all addresses,
// of which the oldest gets it whatever its interface is.
func (m *mac) door(iface string, address netip.Addr, port int) *door {
	var wild *door
	for _, d := range m.doors {
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

// answers reports whether what a door says reaches who has called: it leaves by
// the door's interface. The caller holds the lock.
func (d *door) answers(w *World, f *flow) bool {
	far := f.ends[1].at
	if d.iface == "" || d.iface == far.iface.spec.Name {
		return true
	}
	by := far.mac.iface(d.iface)
	return by != nil && slices.Contains(w.heard(plugAt{far.mac, by}), f.ends[0].at)
}

// freePort is the next port at which no door is open.
func (m *mac) freePort() int {
	for {
		port := firstPort + m.nextPort%(65536-firstPort)
		m.nextPort++
		if !slices.ContainsFunc(m.doors, func(d *door) bool { return d.port == port }) {
			return port
		}
	}
}
