package transport

import (
	"slices"
	"time"

	"fulmen/daemon/api"
)

const (
	// slowAfter is after how long without an answer to a call the paths are
	// looked at: the kernel gives up a silent one after 8 seconds only.
	slowAfter = 500 * time.Millisecond
	// livenessWithin is how long a path then has to bring anything, where another
	// one does. With slowAfter and a caller's next try it makes three seconds.
	livenessWithin = 1500 * time.Millisecond
)

// doubt finds out whether one of several paths to a node is dead, and ends it
// where another one lives. Where none answers it is the node that is silent, and
// nothing is ended.
func (t *Transport) doubt(node api.NodeID) {
	t.mu.Lock()
	p := t.peers[node]
	if p == nil || len(p.links) < 2 || p.isDoubted {
		t.mu.Unlock()
		return
	}
	p.isDoubted = true
	links := slices.Clone(p.links)
	t.mu.Unlock()
	asked := int64(t.options.Clock.Boot())
	for _, l := range links {
		l.ping()
	}
	t.options.Clock.AfterFunc(livenessWithin, func() {
		t.mu.Lock()
		p.isDoubted = false
		t.mu.Unlock()
		isSilent := func(l *link) bool { return l.received.Load() < asked }
		if !slices.ContainsFunc(links, func(l *link) bool { return !isSilent(l) }) {
			return
		}
		for _, l := range links {
			if isSilent(l) {
				l.close(api.ReasonUnreachable)
			}
		}
	})
}
