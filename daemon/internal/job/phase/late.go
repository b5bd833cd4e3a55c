package phase

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// late ends a group for a deadline, and says on whom it waited.
func (m *step) late(why api.Reason, message string, missing []int) {
	f := Failure{Cause: Cause{Reason: why, Message: message + "."}, Rank: -1, deadline: true}
	if len(missing) > 0 {
		f.Rank = missing[0]
		f.WaitingFor = m.named(missing)
		f.Message = message + ": it waited for " + f.WaitingFor + "."
	}
	m.fail(f)
}

// named is ranks with their nodes, for people.
func (m *step) named(ranks []int) string {
	var names []string
	for _, i := range ranks {
		names = append(names, "rank "+strconv.Itoa(i)+" on "+m.Rules.name(m.Ranks[i].Node))
	}
	return strings.Join(names, ", ")
}

// seconds is a time for people.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s" }

// unstarted are the ranks of which no program runs yet.
func (m *step) unstarted() []int {
	return m.ranksThat(func(_ int, r Rank) bool { return r.Phase != api.RankHandshake && r.Phase != api.RankRunning })
}

// missing are the ranks that keep the others from joining: those that rank 0's node
// waits for, else those that have not dialled, or, where all have, that have not joined.
func (m *step) missing() []int {
	if awaited := m.ranksThat(func(i int, _ Rank) bool { return slices.Contains(m.Ranks[0].Missing, i) }); len(awaited) > 0 {
		return awaited
	}
	waiting := func(i int, r Rank) bool { return r.Phase != api.RankRunning && !m.hasJoined(i) }
	silent := m.ranksThat(func(i int, r Rank) bool { return waiting(i, r) && r.Handshake == api.HandshakeNone })
	if len(silent) > 0 {
		return silent
	}
	return m.ranksThat(waiting)
}

// ranksThat are the ranks that have not ended and of which something holds.
func (m *step) ranksThat(is func(int, Rank) bool) []int {
	var out []int
	for i, r := range m.Ranks {
		if !r.Phase.Ended() && is(i, r) {
			out = append(out, i)
		}
	}
	return out
}
