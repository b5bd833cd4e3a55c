package sim

import (
	"context"
	"net/netip"
	"slices"
	"syscall"

	"fulmen/native"
	"fulmen/native/memnet"
	"fulmen/native/sim/loopback"
)

// flow is a connection between two Macs. Its path is what [World.Reach] says of
// the addresses of its ends.
type flow struct {
	ends  [2]flowEnd
	state loopback.State
	wait  *wait // until the path is dead
	// token is what the second end answers with, until it has; answer is until it
	// must have.
	token  string
	answer *wait
}

// flowEnd is one end; the first is the one that dialled.
type flowEnd struct {
	handle  *handle
	at      plugAt
	address netip.Addr // without zone
	port    int
	changed func(loopback.State) // nil: nobody is told yet
	closed  bool
}

// local is the end's own address, remote that of the other as seen from it.
func (f *flow) local(end int) netip.AddrPort {
	return f.seen(end, end)
}

func (f *flow) remote(end int) netip.AddrPort {
	return f.seen(1-end, end)
}

// seen is the address of one end with the zone of another.
func (f *flow) seen(of, from int) netip.AddrPort {
	return netip.AddrPortFrom(native.Zoned(f.ends[of].address, f.ends[from].at.iface.spec.Name), uint16(f.ends[of].port))
}

// connect finds who answers an address, and makes a flow to it that begin
// begins. It waits while nobody can be reached.
func (h *handle) connect(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort, begin func(*flow, *openPort)) error {
	w := h.world
	for {
		w.mu.Lock()
		if h.ended {
			w.mu.Unlock()
			return native.ErrClosed
		}
		if i := h.mac.iface(iface); iface != "" && (i == nil || !i.present) {
			w.mu.Unlock()
			return syscall.ENODEV
		}
		if f := h.routeLocked(iface, source.WithZone(""), to); f != nil {
			far := &f.ends[1]
			switch d := far.at.mac.openPort(far.at.iface.spec.Name, far.address, far.port); {
			case d == nil:
				w.mu.Unlock()
				return syscall.ECONNREFUSED
			case d.answersLocked(w, f):
				far.handle, f.ends[0].port = d.handle, h.mac.freePort()
				begin(f, d)
				w.flows[f] = struct{}{}
				w.mu.Unlock()
				return nil
			}
		}
		if w.moved == nil {
			w.moved = make(chan struct{})
		}
		moved := w.moved
		w.mu.Unlock()
		select {
		case <-moved:
		case <-w.ended:
			return native.ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// routeLocked is a flow to an address over the first interface that reaches it; nil
// where none does.
func (h *handle) routeLocked(iface string, source netip.Addr, to netip.AddrPort) *flow {
	address, zone := to.Addr().Unmap().WithZone(""), to.Addr().Zone()
	for _, i := range h.mac.ifaces {
		name := i.spec.Name
		if iface != "" && iface != name || zone != "" && zone != name {
			continue
		}
		for _, other := range h.world.received(plugAt{h.mac, i}) {
			for _, pair := range pairs(i, other.iface) {
				if pair[1] == address && (!source.IsValid() || source == pair[0]) {
					return &flow{state: loopback.Whole, ends: [2]flowEnd{
						{handle: h, at: plugAt{h.mac, i}, address: pair[0]}, {at: other, address: pair[1], port: int(to.Port())},
					}}
				}
			}
		}
	}
	return nil
}

// hangUp closes one end. Closing twice is harmless.
func (w *World) hangUp(f *flow, end int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hungUp(f, end)
}

// hungUp is hangUp for who holds the lock.
func (w *World) hungUp(f *flow, end int) {
	f.ends[end].closed = true
	if f.ends[1-end].closed {
		w.cancelLocked(f.wait)
		f.wait = nil
		delete(w.flows, f)
		w.answered(f)
	}
}

// answered forgets the token of a flow.
func (w *World) answered(f *flow) {
	w.cancelLocked(f.answer)
	f.answer = nil
	delete(w.tokens, f.token)
}

// abandon closes what a platform had open.
func (w *World) abandon(h *handle) {
	h.mac.openPorts = slices.DeleteFunc(h.mac.openPorts, func(d *openPort) bool { return d.handle == h })
	for f := range w.flows {
		for end := range f.ends {
			if f.ends[end].handle == h {
				w.hungUp(f, end)
			}
		}
	}
}

// follow lets every connection feel what became of its path.
func (w *World) follow() {
	if w.moved != nil {
		close(w.moved)
		w.moved = nil
	}
	received := map[plugAt][]plugAt{}
	for f := range w.flows {
		near, far := f.ends[0], f.ends[1]
		others, known := received[near.at]
		if !known {
			others = w.received(near.at)
			received[near.at] = others
		}
		whole := slices.Contains(others, far.at) &&
			slices.Contains(pairs(near.at.iface, far.at.iface), [2]netip.Addr{near.address, far.address})
		switch {
		case whole && f.state == loopback.Cut:
			w.cancelLocked(f.wait)
			f.wait = nil
			f.become(loopback.Whole)
		case !whole && f.state == loopback.Whole:
			f.wait = w.afterLocked(memnet.DeadAfter, "sim.path", func() { f.become(loopback.Dead) })
			f.become(loopback.Cut)
		}
	}
}

// become tells both ends.
func (f *flow) become(s loopback.State) {
	f.state = s
	for _, end := range f.ends {
		if end.changed != nil && !end.closed {
			end.changed(s)
		}
	}
}
