package api

import "slices"

// RankPhase is where a rank is.
type RankPhase string

const (
	// RankGranted has its resources.
	RankGranted RankPhase = "granted"
	// RankPreparing checks and prepares the node: account, directory, interpreter, files.
	RankPreparing RankPhase = "preparing"
	// RankStarting is being spawned.
	RankStarting RankPhase = "starting"
	// RankHandshake runs and has not joined the group. A ring has none to watch.
	RankHandshake RankPhase = "handshake"
	// RankRunning is at work.
	RankRunning RankPhase = "running"
	// RankEnding was asked to end.
	RankEnding RankPhase = "ending"
	// RankExited has ended, or was given up before it was spawned.
	RankExited RankPhase = "exited"
	// RankLost is a rank of which it is not known how it ended.
	RankLost RankPhase = "lost"
)

// RankPhaseInfo is a row of the table of phases.
type RankPhaseInfo struct {
	// Phase is the phase.
	Phase RankPhase
	// Next are the phases that may follow it; none for an end.
	Next []RankPhase
}

// RankPhases lists the phases and what may follow each.
func RankPhases() []RankPhaseInfo {
	return []RankPhaseInfo{
		{RankGranted, []RankPhase{RankPreparing, RankEnding, RankExited, RankLost}},
		{RankPreparing, []RankPhase{RankStarting, RankEnding, RankExited, RankLost}},
		{RankStarting, []RankPhase{RankHandshake, RankRunning, RankEnding, RankExited, RankLost}},
		{RankHandshake, []RankPhase{RankRunning, RankEnding, RankExited, RankLost}},
		{RankRunning, []RankPhase{RankEnding, RankExited, RankLost}},
		{RankEnding, []RankPhase{RankExited, RankLost}},
		{RankExited, nil},
		{RankLost, nil},
	}
}

// Values lists the phases.
func (RankPhase) Values() []string {
	all := RankPhases()
	out := make([]string, len(all))
	for i, info := range all {
		out[i] = string(info.Phase)
	}
	return out
}

// Valid reports whether the phase belongs to this version.
func (p RankPhase) Valid() bool { return known(p) }

// Next lists the phases that may follow.
func (p RankPhase) Next() []RankPhase {
	for _, info := range RankPhases() {
		if info.Phase == p {
			return info.Next
		}
	}
	return nil
}

// May reports whether next may follow.
func (p RankPhase) May(next RankPhase) bool { return slices.Contains(p.Next(), next) }

// Ended reports whether the phase is an end.
func (p RankPhase) Ended() bool { return p == RankExited || p == RankLost }
