package sim

import (
	"fulmen/native"
	"fulmen/native/sim/loopback"
)

// handle is one platform of a Mac: the interfaces of package native, and what
// was begun through them. Its fields are guarded by the world's lock.
type handle struct {
	world *World
	mac   *mac
	ended bool
	// keepsAwake is how often its user holds idle sleep off.
	keepsAwake int

	subscribers   []*subscriber
	announcements []*announcement
	sockets       *loopback.Sockets // nil: they are somebody else's
}

// close ends what was begun through the platform; a notice that it has not
// acknowledged counts as acknowledged. Its ports are free before anybody hears that
// its announcements are gone: who then takes its place finds them so.
func (h *handle) close() error {
	err := h.world.change("sim.close", func() error {
		h.ended = true
		h.announcements = nil
		h.world.abandon(h)
		h.world.acknowledgedLocked(h)
		return nil
	})
	if err != nil { // the world is closed, and with it every platform
		return nil
	}
	h.end()
	return nil
}

// end stops every callback and waits for those under way.
func (h *handle) end() {
	w := h.world
	w.mu.Lock()
	h.ended = true
	delete(h.mac.handles, h)
	subscribers := h.subscribers
	h.subscribers, h.announcements = nil, nil
	w.abandon(h)
	w.mu.Unlock()
	if h.sockets != nil {
		_ = h.sockets.Close()
	}
	for _, s := range subscribers {
		w.stop(s)
	}
}

// begin makes a change on behalf of the platform.
func (h *handle) begin(source string, f func() error) error {
	return h.world.change(source, func() error {
		if h.ended {
			return native.ErrClosed
		}
		return f()
	})
}
