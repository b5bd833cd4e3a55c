package ledger

import (
	"time"

	"fulmen/daemon/api"
)

// sweepPeriod is how often deletions are looked through for ones that have been
// kept long enough. It is done on the way of a write, so nothing wakes up for it.
const sweepPeriod = time.Hour

// Forget drops every document of another node, deletions included, without
// leaving a trace, and waits for those that are just arriving: for a member that was removed, and for this node's return
// after it was away for longer than deletions are kept. Watchers are told.
func (l *Ledger) Forget(node api.NodeID) error {
	if node == l.author.node {
		return api.Errorf(api.ReasonBadValue, node.String(), "a node does not forget itself")
	}
	l.saving.Lock()
	defer l.saving.Unlock()
	l.author.era.Lock()
	defer l.author.era.Unlock()
	return l.drop(func(k api.Key, _ *entry) bool { return k.Node == node })
}

// sweep drops deletions that are older than api.TombstoneTTL.
func (l *Ledger) sweep() {
	now := l.now()
	l.mu.RLock()
	since := now.Sub(l.sweptAt)
	l.mu.RUnlock()
	if since >= 0 && since < sweepPeriod {
		return
	}
	l.mu.Lock()
	l.sweptAt = now
	l.mu.Unlock()
	l.saving.Lock()
	defer l.saving.Unlock()
	// What the store cannot forget comes back at the next start and is swept again.
	_ = l.drop(func(_ api.Key, e *entry) bool { return e.expired(now) })
}

// expired reports whether a deletion has been kept for long enough: since it
// arrived, because its writer's clock may be wrong, or where that was before
// the last start since it was written.
func (e *entry) expired(now time.Time) bool {
	if !e.rec.doc.Deleted {
		return false
	}
	since := e.heldSince
	if since.IsZero() {
		since = e.rec.doc.At.Time
	}
	return now.Sub(since) > api.TombstoneTTL
}

// drop takes entries out of memory and store. Deletions go in silence: their
// watchers know already. The caller holds saving.
func (l *Ledger) drop(isGone func(api.Key, *entry) bool) error {
	now := l.now()
	var persisted []api.Key
	var items []item
	l.mu.Lock()
	for k, e := range l.entries {
		if !isGone(k, e) {
			continue
		}
		l.unset(k)
		if isPersisted(k.Kind) {
			persisted = append(persisted, k)
		}
		if !e.rec.doc.Deleted {
			items = append(items, item{key: k, isLive: isLive(k.Kind), since: now})
		}
	}
	l.publish(items, "forget", now)
	l.mu.Unlock()
	return l.save(nil, persisted)
}

// ForgetStrangers forgets the nodes that are no members.
func (l *Ledger) ForgetStrangers(isMember func(api.NodeID) bool) error {
	strangers := map[api.NodeID]bool{}
	for _, record := range l.List(Filter{}) {
		if id := record.Key().Node; !isMember(id) {
			strangers[id] = true
		}
	}
	for id := range strangers {
		if err := l.Forget(id); err != nil {
			return err
		}
	}
	return nil
}
