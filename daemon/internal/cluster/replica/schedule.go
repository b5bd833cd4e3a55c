package replica

import (
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// compareSoonLocked plans a comparison with a neighbour, unless one is planned earlier.
func (r *Replica) compareSoonLocked(p *peer, delay time.Duration) {
	p.compare.isPlanned = true
	r.compareAgainLocked(p, delay)
}

// compareAgainLocked plans one for what the last left alone, and has not come by then.
func (r *Replica) compareAgainLocked(p *peer, delay time.Duration) {
	c := &p.compare
	due := r.clock.Boot() + delay
	if p.isGone() || c.timer != nil && c.due <= due {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.due = due
	c.timer = r.clock.AfterFunc(delay, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if p.isGone() || c.due != due {
			return
		}
		c.timer = nil
		if c.isRunning {
			c.isWanted = true
			return
		}
		c.isRunning = true
		r.spawnLocked(func() { r.runComparison(p) })
	})
}

// compareAtSlotLocked plans the comparison with a neighbour that came up: the first of a
// burst at once, the others one by one after it. Whoever waits for the other side to begin
// does so itself a second later if nothing came.
func (r *Replica) compareAtSlotLocked(p *peer, isSecond bool) {
	p.compare.isUrgent, p.compare.isForced = true, true
	if isSecond {
		r.compareSoonLocked(p, time.Second+r.jitterLocked(r.timing.Stagger*5))
		return
	}
	now := r.clock.Boot()
	r.nextSlot = max(r.nextSlot, now)
	r.compareSoonLocked(p, r.nextSlot-now)
	r.nextSlot += r.timing.Stagger
}

// soonLocked is when to compare with one of n neighbours who should have heard otherwise.
func (r *Replica) soonLocked(n int) time.Duration {
	return r.timing.Relay + r.jitterLocked(r.timing.Relay+time.Duration(n)*r.timing.Stagger)
}

// compareLaterLocked plans comparisons with neighbours, in random order, who most likely
// hear of something by others: with a few soon, so that where they do not it goes on from
// there, and with the rest once those have had time to. Of news about nodes whoever has a
// path to them hears from them, as this node does, and need not be asked then.
func (r *Replica) compareLaterLocked(near []*peer, few int, about ...api.NodeID) {
	few = min(few, len(near))
	for _, p := range near[:few] {
		if len(about) == 0 {
			r.compareSoonLocked(p, r.soonLocked(len(near)))
			continue
		}
		r.clock.AfterFunc(r.soonLocked(len(near)), func() { r.compareUnreached([]*peer{p}, about) })
	}
	rest := near[few:]
	if len(rest) == 0 {
		return
	}
	wait := 20 * r.timing.Relay
	if len(about) > 0 {
		wait = r.timing.Notify
	}
	r.clock.AfterFunc(wait, func() { r.compareUnreached(rest, about) })
}

// compareUnreached compares with a few of those of some neighbours, in random order, that
// nobody says to have a path to one of the nodes that there is news about: these go on from
// there. Where it is about no node it compares with all.
func (r *Replica) compareUnreached(near []*peer, about []api.NodeID) {
	joined := map[[2]api.NodeID]bool{}
	for _, p := range near {
		for _, node := range about {
			joined[[2]api.NodeID{p.node, node}] = r.joined(p.node, node)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	left := len(near)
	if len(about) > 0 {
		left = relays
	}
	for _, p := range near {
		isReached := func(node api.NodeID) bool {
			return node == p.node || node == r.self || r.peers[node] != nil && joined[[2]api.NodeID{p.node, node}]
		}
		if len(about) == 0 || slices.ContainsFunc(about, func(node api.NodeID) bool { return !isReached(node) }) {
			r.compareSoonLocked(p, r.jitterLocked(time.Duration(len(near)-1)*r.timing.Stagger))
			if left--; left == 0 {
				return
			}
		}
	}
}

// joined reports whether one of two nodes says that it has a path to the other. They have
// met then: they know that both are members, and what they have written.
func (r *Replica) joined(a, b api.NodeID) bool { return r.reaches(a, b) || r.reaches(b, a) }

func (r *Replica) reaches(from, to api.NodeID) bool {
	for _, rec := range r.ledger.ListPrefix(from, api.KindReach, string(to)+"/") {
		if reach, err := ledger.Shared[api.Reach](rec); err == nil && reach.State != api.PathFailed {
			return true
		}
	}
	return false
}

// jitterLocked is a random part of a span.
func (r *Replica) jitterLocked(span time.Duration) time.Duration {
	return time.Duration(r.rand.Int64N(int64(max(span, 1))))
}

// compareSlowly compares with one neighbour at random now and then. Nothing
// announces that a message was lost with the process that was to pass it on, or
// that a disk gave back what was overwritten; so somebody has to look. It is
// the only traffic of a cluster in which nothing changes.
func (r *Replica) compareSlowly() {
	for {
		r.mu.Lock()
		pause := r.timing.Period*3/4 + r.jitterLocked(r.timing.Period/2)
		r.mu.Unlock()
		if !native.Pause(r.ctx, r.clock, pause) {
			return
		}
		r.mu.Lock()
		if near := r.neighboursLocked(func(*peer) bool { return true }); len(near) > 0 {
			near[0].compare.isForced = true
			r.compareSoonLocked(near[0], 0)
		}
		r.mu.Unlock()
	}
}
