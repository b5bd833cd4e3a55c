package replica

import (
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
)

// noteOrphan plans the end of a document that this node wrote before it lost its
// state. Its owner may still mean it and put it again, as facts are that are
// read from the system; those have until then.
func (r *Replica) noteOrphan(key api.Key) {
	r.mu.Lock()
	_, isKnown := r.orphans[key]
	if !isKnown {
		r.orphans[key] = r.clock.Boot() + r.timing.Settle
	}
	r.mu.Unlock()
	if !isKnown {
		r.orphanHints.Wake()
	}
}

// endOrphans deletes orphans whose time has come.
func (r *Replica) endOrphans() {
	for native.Wait(r.ctx, r.clock, r.endDueOrphans(), r.orphanHints) {
	}
}

// endDueOrphans deletes those that are due; next is how long until others are.
func (r *Replica) endDueOrphans() (next time.Duration) {
	now := r.clock.Boot()
	next = native.Forever
	var due []api.Key
	r.mu.Lock()
	for key, at := range r.orphans {
		if at > now {
			next = min(next, at-now)
			continue
		}
		due = append(due, key)
		delete(r.orphans, key)
	}
	r.mu.Unlock()
	for _, key := range due {
		if _, isHeld := r.ledger.Latest(key); isHeld {
			continue // put again, and so at a version above
		}
		draft := ledger.Draft{Kind: key.Kind, Name: key.Name, Delete: true, Again: true}
		if err := r.options.Writer.Put(draft); err != nil {
			// The next comparison meets it again.
			r.log.Error("a document from before a restart could not be ended", "document", key.String(), "error", err)
		}
	}
	return next
}
