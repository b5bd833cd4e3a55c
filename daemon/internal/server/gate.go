package server

import (
	"net"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/internal/server/guard"
)

// gate is a listener that bounds how many connections are half open: accepted,
// and not known to be anybody's. While others wait for a place, a connection
// keeps its own for a while and then loses it: an honest client is known within
// milliseconds, on a starved machine within a second or two.
type gate struct {
	net.Listener
	rules guard.Rules
	unix  bool
	most  int
	keep  time.Duration
	freed chan struct{}
	// accepted is as in Config.
	accepted func(by int)

	mu     sync.Mutex
	half   []waiting // the oldest first
	closed bool
}

// waiting is a half-open connection.
type waiting struct {
	link  *link
	since time.Time
}

// Accept waits for a connection, and for a place for it.
func (g *gate) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l := newLink(conn, g)
	if g.accepted != nil {
		g.accepted(1)
	}
	g.admit(l)
	return l, nil
}

func (g *gate) admit(l *link) {
	for {
		wait := g.enter(l)
		if wait == 0 {
			return
		}
		t := time.NewTimer(wait)
		select {
		case <-g.freed:
		case <-t.C:
		}
		t.Stop()
	}
}

// enter takes a place, or that of the oldest if it has had it for long enough.
// It returns 0, or how long to wait before it is tried again.
func (g *gate) enter(l *link) time.Duration {
	now := time.Now()
	var oldest *link
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		_ = l.Close() // the server does not read from it any more
		return 0
	}
	if len(g.half) >= g.most {
		if left := g.keep - now.Sub(g.half[0].since); left > 0 {
			g.mu.Unlock()
			return left
		}
		oldest = g.half[0].link
		g.half = slices.Delete(g.half, 0, 1)
	}
	g.half = append(g.half, waiting{l, now})
	g.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // it is being got rid of
	}
	return 0
}

// clear closes every half-open connection, and those still to come.
func (g *gate) clear() {
	g.mu.Lock()
	g.closed = true
	all := slices.Clone(g.half)
	g.mu.Unlock()
	for _, w := range all {
		_ = w.link.Close() // nobody is there to be told
	}
}

func (g *gate) release(l *link) {
	g.mu.Lock()
	g.half = slices.DeleteFunc(g.half, func(w waiting) bool { return w.link == l })
	g.mu.Unlock()
	select {
	case g.freed <- struct{}{}:
	default:
	}
}
