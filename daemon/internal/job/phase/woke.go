package phase

import (
	"time"

	"fulmen/daemon/api"
)

// woke is when the home runs again that did not for a while. It asks before it judges:
// whose ranks live answers, and whoever knows a later home says so.
func (m *step) woke(slept time.Duration) {
	m.slept, m.awake = m.slept+slept, 0
	for i := range m.Nodes {
		m.Nodes[i].asked = false
	}
	switch {
	case m.Job.Phase == api.JobEnding:
		m.endAll()
	case m.open:
		if m.renew(); m.Job.Phase == api.JobPlacing && m.isLate() {
			m.askAgain()
		}
	}
}

// renewed is when a node has renewed the leases of its ranks.
func (m *step) renewed(n *Node) {
	n.asked, n.Lost = false, false
	for _, other := range m.Nodes {
		if other.asked {
			return
		}
	}
	// Leases that ran out meanwhile show at their next renewals, or sooner.
	if m.awake++; !m.isLate() || m.awake > 2 {
		m.slept = 0
	}
}

// isLate reports whether leases ran out while the home did not run.
func (m *step) isLate() bool { return m.slept > m.Rules.Lease-2*m.Rules.Renewal }

// unrenewed is why a rank ended whose lease nobody renewed. Where its home slept, that is
// no rank's own end.
func (m *step) unrenewed(f Failure) Failure {
	switch {
	case f.Reason != api.ReasonLeaseExpired:
		return f
	case m.forgot:
		return Failure{Rank: -1, Cause: m.hasForgotten(whileItRan)}
	case !m.isLate():
		f.Message = "Nobody renewed the lease of " + m.named([]int{f.Rank}) + ": " + m.Rules.name(m.Self) + ", which keeps the job, did not reach it in time."
		return f
	}
	f.Message = m.Rules.name(m.Self) + ", which keeps the job, slept or was stopped for " +
		m.slept.Round(100*time.Millisecond).String() + ", so that nobody renewed the leases of its ranks."
	f.Rank, f.Exit, f.WaitingFor = -1, nil, ""
	return f
}
