package job

import (
	"fulmen/daemon/api"
)

// Bounds of a document that another node wrote, beyond what any home writes.
const (
	maxEpoch    = 1 << 53
	maxAttempts = 1 << 10
)

// sane reports whether a job's document can be reckoned with: its numbers are in
// range, and its plans number their ranks in order.
func sane(job api.Job) bool {
	if job.Epoch < 1 || job.Epoch > maxEpoch || job.Attempt < 0 || job.Attempt > api.MaxAttempt || !job.Phase.Valid() ||
		len(job.Attempts) > maxAttempts || job.Phase.Ended() != (job.ExitCode != nil) {
		return false
	}
	for _, at := range job.Attempts {
		if at.Attempt < 1 || at.Attempt > api.MaxAttempt || at.Plan != nil && !ordered(*at.Plan) {
			return false
		}
	}
	return true
}

// ordered reports whether a plan has ranks, each at its own number on a node.
func ordered(p api.Plan) bool {
	for i, r := range p.Ranks {
		if r.Rank != i || !r.Node.Valid() {
			return false
		}
	}
	return len(p.Ranks) > 0 && len(p.Ranks) <= api.MaxRank+1
}
