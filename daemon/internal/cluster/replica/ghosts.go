package replica

import (
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
)

// noteGhost plans the end of a document that this node wrote before it lost its
// state. Its owner may still mean it and put it again, as facts are that are
// read from the system; those have until then.
func (r *Replica) noteGhost(d *api.Document) {
	r.mu.Lock()
	_, isKnown := r.ghosts[d.Key()]
	if !isKnown {
		r.ghosts[d.Key()] = r.clock.Boot() + r.timing.Settle
	}
	r.mu.Unlock()
	if isKnown {
		return
	}
	r.ghostHints.Wake()
	if r.options.OnGhost != nil && !d.Deleted {
		r.options.OnGhost(*d)
	}
}

// endGhosts deletes ghosts whose time has come.
func (r *Replica) endGhosts() {
	for {
		next, isAny := r.endDueGhosts()
		if isAny {
			timer := r.clock.AfterFunc(next, r.ghostHints.Wake)
			defer timer.Stop()
		}
		select {
		case <-r.ctx.Done():
			return
		case <-r.ghostHints:
		}
	}
}

// endDueGhosts deletes those that are due; next is how long until others are.
func (r *Replica) endDueGhosts() (next time.Duration, isAny bool) {
	now := r.clock.Boot()
	var due []api.Key
	r.mu.Lock()
	for key, at := range r.ghosts {
		switch {
		case at <= now:
			due = append(due, key)
			delete(r.ghosts, key)
		case !isAny || at-now < next:
			next, isAny = at-now, true
		}
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
	return next, isAny
}
