package transport

import (
	"net"
	"slices"
	"sync"

	"fulmen/daemon/api"
)

// halfOpen is the accepted connections whose other side has not proved who it is, the
// oldest first. There are api.MaxHalfOpen at most: one more ends the oldest, so that
// whoever opens connections and says nothing ends its own and does not keep others
// out. An honest one is done within a few round trips.
type halfOpen struct {
	mu    sync.Mutex
	conns []net.Conn
}

// enter takes a connection in.
func (h *halfOpen) enter(c net.Conn) {
	h.mu.Lock()
	h.conns = append(h.conns, c)
	var oldest net.Conn
	if len(h.conns) > api.MaxHalfOpen {
		oldest = h.conns[0]
		h.conns = h.conns[1:]
	}
	h.mu.Unlock()
	if oldest != nil {
		oldest.Close() // its greeting fails, and is over
	}
}

// leave takes it out, where it was not ended.
func (h *halfOpen) leave(c net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns = slices.DeleteFunc(h.conns, func(o net.Conn) bool { return o == c })
}
