package server

import (
	"net"
	"slices"
	"sync"
)

// gate is a listener that bounds how many connections are half open: accepted,
// and not known to be anybody's. It accepts at once, always: where there are too
// many, one that is there already has to go. An honest client is known within
// milliseconds, on a starved machine within a second or two.
type gate struct {
	net.Listener
	guard guard
	unix  bool
	most  int
	// accepted is as in Config.
	accepted func(by int)

	mu     sync.Mutex
	half   []*link // the oldest first
	closed bool
}

// Accept waits for a connection.
func (g *gate) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l := newLink(conn, g)
	if g.accepted != nil {
		g.accepted(1)
	}
	if gone := g.enter(l); gone != nil {
		_ = gone.Close() // the server reads from it no more
	}
	return l, nil
}

// enter takes a connection in and returns the one that has to go for it, if any.
func (g *gate) enter(l *link) (gone *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return l
	}
	g.half = append(g.half, l)
	if len(g.half) <= g.most {
		return nil
	}
	i := g.expendable()
	gone = g.half[i]
	g.half = slices.Delete(g.half, i, i+1)
	return gone
}

// expendable finds the oldest connection of the account that has the most half
// open, so that no account can push out another's. Over TCP nobody is known yet,
// and all count as one account's.
func (g *gate) expendable() int {
	of := map[uint32]int{}
	for _, l := range g.half {
		of[l.uid]++
	}
	most := 0
	for _, n := range of {
		most = max(most, n)
	}
	return slices.IndexFunc(g.half, func(l *link) bool { return of[l.uid] == most })
}

// clear closes every half-open connection, and those still to come.
func (g *gate) clear() {
	g.mu.Lock()
	g.closed = true
	all := slices.Clone(g.half)
	g.mu.Unlock()
	for _, l := range all {
		_ = l.Close() // nobody is there to be told
	}
}

func (g *gate) release(l *link) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.half = slices.DeleteFunc(g.half, func(h *link) bool { return h == l })
}
