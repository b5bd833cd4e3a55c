package probe

import (
	"time"

	"fulmen/daemon/api"
)

// leastCost is what an announcement costs a peer even where nothing comes of it.
const leastCost = 100 * time.Millisecond

// budgets are what peers have used up of this node's time. What was used is
// forgotten evenly, all of it in BudgetPeriod.
type budgets struct {
	limit time.Duration
	used  map[api.NodeID]spent
}

// spent is how much was used up at a time of the clock that nobody sets.
type spent struct {
	used, at time.Duration
}

// left is what a peer has used up of it now.
func (b *budgets) usedBy(peer api.NodeID, now time.Duration) time.Duration {
	s := b.used[peer]
	forgotten := time.Duration(float64(now-s.at) * float64(b.limit) / float64(BudgetPeriod))
	return max(s.used-forgotten, 0)
}

// allows reports whether a peer may measure now, and when not, in how long it may.
func (b *budgets) allows(peer api.NodeID, now time.Duration) (wait time.Duration, ok bool) {
	over := b.usedBy(peer, now) + leastCost - b.limit
	if over <= 0 {
		return 0, true
	}
	return time.Duration(float64(over) * float64(BudgetPeriod) / float64(b.limit)), false
}

// charge adds what a measurement took. Peers that have used up nothing are forgotten.
func (b *budgets) charge(peer api.NodeID, took, now time.Duration) {
	used := b.usedBy(peer, now) + max(took, leastCost)
	for other := range b.used {
		if b.usedBy(other, now) == 0 {
			delete(b.used, other)
		}
	}
	b.used[peer] = spent{used: used, at: now}
}
