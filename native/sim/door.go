package sim

import (
	"net/netip"
	"slices"
	"syscall"

	"fulmen/native/memnet"
)

// firstPort is the first of those that are given to who asks for none, as IANA
// has it.
const firstPort = 49152

// door is a port of a Mac that is open on one interface, or on all.
type door struct {
	handle *handle
	iface  string // empty: all
	port   int
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
	case d.port < 0 || d.port > 65535:
		return syscall.EINVAL
	}
	if i := h.mac.iface(d.iface); d.iface != "" && (i == nil || !i.present) {
		return syscall.ENODEV
	}
	if d.port == 0 {
		d.port = h.mac.freePort()
	}
	clash := func(other *door) bool {
		return other.port == d.port && (other.iface == d.iface || other.iface == "" || d.iface == "")
	}
	if slices.ContainsFunc(h.mac.doors, clash) {
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

// door is the one to which a connection to an interface comes.
func (m *mac) door(iface string, port int) *door {
	i := slices.IndexFunc(m.doors, func(d *door) bool { return d.port == port && (d.iface == iface || d.iface == "") })
	if i < 0 {
		return nil
	}
	return m.doors[i]
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
