package phase

import (
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// home is when the home goes on that did nothing for a while. It asks before it judges:
// whose ranks live answers, and whoever knows a later home says so.
func (e Idled) home(m *step) {
	m.idle, m.answered = m.idle+e.For, 0
	m.idleWhy = m.Rules.name(m.Self) + ", which keeps the job, " + e.Why + " for " + m.idle.Round(100*time.Millisecond).String()
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

// restarted is when the daemon of the home was started again. For how long it was away
// nobody knows: until all have answered, leases may have run out.
func (m *step) restarted() {
	m.idle = m.Rules.Lease
	m.idleWhy = "The daemon of " + m.Rules.name(m.Self) + ", which keeps the job, was restarted"
}

// home is when a node has renewed the leases of its ranks.
func (e Renewed) home(m *step) {
	n := m.node(e.Node)
	if n == nil || !m.current(e.Attempt) {
		return
	}
	n.asked = false
	if len(m.unanswered()) > 0 {
		return
	}
	// Leases that ran out meanwhile show at their next renewals, or sooner.
	if m.answered++; !m.isLate() || m.answered > 2 {
		m.idle = 0
	}
}

// unanswered are the nodes that have not answered the last renewal.
func (m *step) unanswered() (nodes []api.NodeID) {
	for _, n := range m.Nodes {
		if n.asked {
			nodes = append(nodes, n.ID)
		}
	}
	return nodes
}

// isLate reports whether leases ran out while the home did nothing.
func (m *step) isLate() bool { return m.idle > m.Rules.Lease-2*m.Rules.Renewal }

// unrenewed is why a rank ended, or was refused before it began, whose lease nobody renewed.
// Where its home did nothing, that is no rank's own end.
func (m *step) unrenewed(f Failure) Failure {
	switch {
	case f.Reason != api.ReasonLeaseExpired && (f.Reason != api.ReasonGrantRefused || !m.isLate()):
		return f
	case m.forgot:
		return Failure{Rank: -1, Cause: m.hasForgotten(whileItRan)}
	case m.isLate():
		f.Message = m.idleWhy + ", so nobody renewed the leases of its ranks."
		f.Reason, f.Rank, f.Exit, f.WaitingFor = api.ReasonLeaseExpired, -1, nil, ""
		return f
	}
	f.Message = "Nobody renewed the lease of " + m.named([]int{f.Rank}) + ": "
	if silent := m.unanswered(); len(silent) > 0 && !slices.Contains(silent, m.Ranks[f.Rank].Node) {
		// Leases are renewed together or not at all: see [step.renew].
		var names []string
		for _, n := range silent {
			names = append(names, m.Rules.name(n))
		}
		f.Message += strings.Join(names, ", ") + " did not answer."
		return f
	}
	f.Message += m.Rules.name(m.Self) + ", which keeps the job, did not reach it in time."
	return f
}
