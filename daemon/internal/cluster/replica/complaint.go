package replica

import (
	"log/slog"
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

// complaints is where to log what is wrong with a member: the log, once a minute, else
// nowhere.
func (r *Replica) complaints(node api.NodeID) *slog.Logger {
	now := r.clock.Boot()
	r.mu.Lock()
	defer r.mu.Unlock()
	last, wasSaid := r.said[node]
	if wasSaid && now-last.at < complaintPeriod {
		last.skipped++
		r.said[node] = last
		return slog.New(slog.DiscardHandler)
	}
	r.said[node] = complaint{at: now}
	if r.ctx.Err() != nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.log.With("node", node.Display(), "more", last.skipped)
}
