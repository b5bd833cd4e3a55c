package node

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// clockReported is by how much a member's wall clock has to differ to be told of.
	clockReported = time.Minute
	// clockAgain is how often it is looked whether a clock that differs was mended,
	// which nothing announces.
	clockAgain = time.Minute
	// clockWithin is how long a member gets to say its time.
	clockWithin = 5 * time.Second
)

// clocks compares the wall clocks of the members in reach with this node's.
type clocks struct {
	clock  native.Clock
	notify func(ahead map[api.NodeID]time.Duration)
	again  func(api.NodeID) // asks a member once more

	mu    sync.Mutex
	ahead map[api.NodeID]time.Duration // of those that differ
	timer map[api.NodeID]native.Timer
	ended bool
}

// is takes by how much a member's clock is ahead.
func (c *clocks) is(node api.NodeID, ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	ahead = ahead.Round(time.Second)
	was, isThere := c.ahead[node]
	if t := c.timer[node]; t != nil {
		t.Stop()
		delete(c.timer, node)
	}
	switch {
	case ahead.Abs() >= clockReported:
		c.ahead[node] = ahead
		c.armLocked(node)
		if isThere && (was-ahead).Abs() < clockReported {
			return // as it was, but for how long the calls took
		}
	case isThere:
		delete(c.ahead, node)
	default:
		return
	}
	c.notify(maps.Clone(c.ahead))
}

// armLocked asks a member again later.
func (c *clocks) armLocked(node api.NodeID) {
	c.timer[node] = c.clock.AfterFunc(clockAgain, func() {
		c.mu.Lock()
		_, differs := c.ahead[node]
		isDue := differs && !c.ended
		if isDue {
			c.armLocked(node) // it may not answer
		}
		c.mu.Unlock()
		if isDue {
			c.again(node)
		}
	})
}

// end stops looking.
func (c *clocks) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, t := range c.timer {
		t.Stop()
	}
}

// CompareClocks compares the clocks of all members in reach with this node's, which
// was set.
func (n *Node) CompareClocks() {
	for _, node := range n.inReach() {
		go n.compareClock(node)
	}
}

// compareClock asks a member for its time, and tells it this node's. Of one out of
// reach nothing is known.
func (n *Node) compareClock(node api.NodeID) {
	clock := n.options.Platform.Clock
	ctx, cancel := native.WithTimeout(context.Background(), clock, clockWithin, node.Display()+" to say its time")
	defer cancel()
	asked := clock.Boot()
	var theirs api.PeerHello
	err := n.transport.Call(ctx, node, "peer.hello", n.hello(), &theirs)
	now := clock.Now().Add((asked - clock.Boot()) / 2)
	switch {
	case err == nil && !theirs.At.IsZero():
		n.clocks.is(node, theirs.At.Sub(now))
	case !n.transport.Reachable(node):
		n.clocks.is(node, 0)
	}
}

// answerHello answers peer.hello.
func (n *Node) answerHello(_ context.Context, from api.NodeID, raw json.RawMessage) (any, error) {
	var theirs api.PeerHello
	if json.Unmarshal(raw, &theirs) == nil && !theirs.At.IsZero() {
		n.clocks.is(from, theirs.At.Sub(n.options.Platform.Clock.Now()))
	}
	return n.hello(), nil
}
