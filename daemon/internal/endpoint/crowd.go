package endpoint

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// crowd bounds the connections. For one more than there may be the one has to go that
// rests for longest: it was accepted, or answered, and asks nothing.
type crowd struct {
	most int

	mu   sync.Mutex
	all  map[net.Conn]bool
	rest []net.Conn // the longest first
}

// note is a server's ConnState.
func (c *crowd) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest = slices.DeleteFunc(c.rest, func(one net.Conn) bool { return one == conn })
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.all, conn)
		return
	case http.StateNew, http.StateIdle:
		c.rest = append(c.rest, conn)
	}
	if c.all == nil {
		c.all = map[net.Conn]bool{}
	}
	c.all[conn] = true
	if len(c.all) > c.most && len(c.rest) > 0 {
		_ = c.rest[0].Close() // the server hears of it
		delete(c.all, c.rest[0])
		c.rest = c.rest[1:]
	}
}
