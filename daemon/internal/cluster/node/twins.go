package node

import (
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/native"
)

// twinForgotten is how long after its last connection a second machine with a
// member's identity counts as gone: each of the two dials every 15 seconds.
const twinForgotten = 2 * time.Minute

// twins are the members whose identity two machines have.
type twins struct {
	clock  native.Clock
	notify func(node api.NodeID, at string)

	mu    sync.Mutex
	until map[api.NodeID]native.Timer
}

// isTwo reports whether two machines have had a node's identity of late: what its
// documents say is of either of them, by turns.
func (t *twins) isTwo(node api.NodeID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.until[node] != nil
}

// seen notes a connection of a second machine. It is told at the first one, and
// again with no address when there were none for a while.
func (t *twins) seen(node api.NodeID, at transport.Path) {
	t.mu.Lock()
	timer := t.until[node]
	if timer != nil {
		timer.Stop()
	}
	var again native.Timer
	again = t.clock.AfterFunc(twinForgotten, func() {
		t.mu.Lock()
		isOver := t.until[node] == again
		if isOver {
			delete(t.until, node)
		}
		t.mu.Unlock()
		if isOver {
			t.notify(node, "")
		}
	})
	t.until[node] = again
	t.mu.Unlock()
	if timer == nil {
		t.notify(node, at.Address.String()+" by "+at.Interface)
	}
}
