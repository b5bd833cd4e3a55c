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
	return l.dropLocked(func(r *Record) bool { return r.doc.Node == node })
}

// sweep drops deletions that are older than api.TombstoneTTL.
func (l *Ledger) sweep() {
	now := l.options.Now()
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
	_ = l.dropLocked(func(r *Record) bool { return r.expired(now) })
}

// expired reports whether a deletion has been kept for long enough: since it
// arrived, because its writer's clock may be wrong, or where that was before
// the last start since it was written.
func (r *Record) expired(now time.Time) bool {
	since := r.since
	if since.IsZero() {
		since = r.doc.At.Time
	}
	return r.doc.Deleted && now.Sub(since) > api.TombstoneTTL
}

// dropLocked takes records out of memory and store. Deletions go in silence: their
// watchers know already. The caller holds saving.
func (l *Ledger) dropLocked(isGone func(*Record) bool) error {
	var persisted []api.Key
	var items []item
	l.mu.Lock()
	for k, r := range l.records {
		if !isGone(r) {
			continue
		}
		l.unsetLocked(k)
		if about(k.Kind).Persisted {
			persisted = append(persisted, k)
		}
		if !r.doc.Deleted {
			items = append(items, item{key: k, isLive: about(k.Kind).Live})
		}
	}
	l.publishLocked(items)
	l.mu.Unlock()
	return l.save(nil, persisted)
}

// ForgetNonMembers forgets the nodes that are no members.
func (l *Ledger) ForgetNonMembers(isMember func(api.NodeID) bool) error {
	nonMembers := map[api.NodeID]bool{}
	for _, record := range l.List(Filter{}) {
		if id := record.Key().Node; !isMember(id) {
			nonMembers[id] = true
		}
	}
	for id := range nonMembers {
		if err := l.Forget(id); err != nil {
			return err
		}
	}
	return nil
}
