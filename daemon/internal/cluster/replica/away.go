package replica

import (
	"fmt"
	"sync"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// away knows when another member was last heard from. mu is taken before all
// others, so that nothing is taken or given until what is too old is gone.
type away struct {
	mu    sync.Mutex
	store LastSeen
	last  time.Time
	saved time.Time
}

// savePeriod is how often the time is written to disk at most: it matters by days.
const savePeriod = time.Hour

func (a *away) load(store LastSeen) error {
	if a.store = store; store == nil {
		return nil
	}
	var err error
	if a.last, err = store.LoadLastSeen(); err != nil {
		return fmt.Errorf("load when the cluster was last seen: %w", err)
	}
	a.saved = a.last
	return nil
}

// meet is called before anything is exchanged with a member. After an absence
// of longer than deletions are kept, what this node has of others may be what
// they have deleted and forgotten: it is dropped, and comes back as it is now.
func (r *Replica) meet() {
	a := &r.away
	a.mu.Lock()
	defer a.mu.Unlock()
	now := r.clock.Now()
	if a.last.IsZero() || now.Sub(a.last) > api.TombstoneTTL {
		r.forgetOthers()
	}
	a.last = now
	if a.store == nil || now.Sub(a.saved).Abs() < savePeriod {
		return
	}
	a.saved = now
	if err := a.store.SaveLastSeen(now); err != nil {
		r.log.Error("when the cluster was last seen could not be saved", "error", err)
	}
}

// forgetOthers drops all documents of other nodes.
func (r *Replica) forgetOthers() {
	var last api.NodeID
	for _, rec := range r.ledger.List(ledger.Filter{Deleted: true}) {
		node := rec.Key().Node
		if node == last || node == r.self {
			continue
		}
		last = node
		if err := r.ledger.Forget(node); err != nil {
			r.log.Error("documents from before a long absence could not be dropped", "node", node, "error", err)
		}
	}
}
