package server

import (
	"net"
	"slices"
	"sync"
	"time"

	"fulmen/daemon/internal/server/guard"
)

// patience is how long a new connection waits for a place among the half-open
// ones before it takes that of the oldest. An honest client is known within
// milliseconds, so a burst of them is served in turn; somebody who holds all
// places open loses them.
const patience = 250 * time.Millisecond

// gate is a listener that bounds how many connections are half open: accepted,
// and not known to be anybody's.
type gate struct {
	net.Listener
	rules guard.Rules
	unix  bool
	most  int
	freed chan struct{}

	mu   sync.Mutex
	half []*link // the oldest first
}

// Accept waits for a connection, and for a place for it.
func (g *gate) Accept() (net.Conn, error) {
	conn, err := g.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l := newLink(conn, g)
	g.admit(l)
	return l, nil
}

func (g *gate) admit(l *link) {
	deadline := time.Now().Add(patience)
	for !g.enter(l) {
		t := time.NewTimer(time.Until(deadline))
		select {
		case <-g.freed:
		case <-t.C:
			g.evict()
		}
		t.Stop()
	}
}

func (g *gate) enter(l *link) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.half) >= g.most {
		return false
	}
	g.half = append(g.half, l)
	return true
}

// evict closes the connection that has been half open for longest.
func (g *gate) evict() {
	g.mu.Lock()
	var oldest *link
	if len(g.half) > 0 {
		oldest = g.half[0]
	}
	g.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // it is being got rid of; Close also releases its place
	}
}

// clear closes every half-open connection.
func (g *gate) clear() {
	g.mu.Lock()
	all := slices.Clone(g.half)
	g.mu.Unlock()
	for _, l := range all {
		_ = l.Close() // nobody is there to be told
	}
}

func (g *gate) release(l *link) {
	g.mu.Lock()
	g.half = slices.DeleteFunc(g.half, func(o *link) bool { return o == l })
	g.mu.Unlock()
	select {
	case g.freed <- struct{}{}:
	default:
	}
}
