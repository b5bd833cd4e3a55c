package replica

import (
	"time"

	"fulmen/daemon/api"
)

// complaint is when something about a member was logged last, and how often
// nothing was since.
type complaint struct {
	at      time.Duration
	skipped int
}

// complaintPeriod is how often one member fills the log at most.
const complaintPeriod = time.Minute

// complain logs what is wrong with a member, once a minute.
func (r *Replica) complain(node api.NodeID, what string, err error) {
	now := r.clock.Boot()
	r.mu.Lock()
	last, wasSaid := r.said[node]
	if wasSaid && now-last.at < complaintPeriod {
		last.skipped++
		r.said[node] = last
		r.mu.Unlock()
		return
	}
	r.said[node] = complaint{at: now}
	r.mu.Unlock()
	if r.ctx.Err() == nil {
		r.log.Warn(what, "node", node.Display(), "error", err, "more", last.skipped)
	}
}
