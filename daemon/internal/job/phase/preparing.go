package phase

import (
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// prepare waits until the nodes of a start are prepared. They are told to prepare
// all at once, and take as long as each takes.
func (m *step) prepare(within time.Duration) {
	m.preparing = true
	m.reportUnprepared()
	m.start(TimerPreparing, within)
}

// spawnIfPrepared has all ranks run once the last is prepared: one that runs much
// before its neighbours gives up on them. A node of a version without preparation
// starts its rank by itself, and is not waited for.
func (m *step) spawnIfPrepared() {
	if !m.preparing || m.Job.Phase != api.JobStarting {
		return
	}
	if len(m.unprepared()) > 0 {
		m.reportUnprepared()
		return
	}
	m.preparing = false
	m.stop(TimerPreparing)
	m.enter(api.JobStarting, Cause{})
	m.start(TimerStarting, m.Rules.Starting)
	for i, r := range m.Ranks {
		if r.Prepared && !spawned(r.Phase) {
			m.do(SpawnRank{m.Job.Attempt, m.Job.Epoch, i, r.Node})
		}
	}
}

// unprepared are the ranks for whose nodes the others wait.
func (m *step) unprepared() []int {
	return m.ranksThat(func(_ int, r Rank) bool { return !r.Prepared && !spawned(r.Phase) })
}

// spawned reports whether a rank was given to its node's supervisor.
func spawned(p api.RankPhase) bool {
	return !slices.Contains([]api.RankPhase{"", api.RankGranted, api.RankPreparing}, p)
}

// reportUnprepared names, in the document, the ranks that the others wait for.
func (m *step) reportUnprepared() {
	ranks := m.unprepared()
	waits := m.named(ranks) + " to be prepared"
	if m.Job.WaitingFor == waits {
		return
	}
	var nodes []string
	for _, i := range ranks {
		if name := m.Rules.name(m.Ranks[i].Node); !slices.Contains(nodes, name) {
			nodes = append(nodes, name)
		}
	}
	verb := " is"
	if len(nodes) > 1 {
		verb = " are"
	}
	m.enter(api.JobStarting, Cause{Message: strings.Join(nodes, ", ") + verb + " being prepared.", WaitingFor: waits})
}
