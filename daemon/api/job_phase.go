package api

import "slices"

// JobPhase is where a job is.
type JobPhase string

const (
	// JobQueued is accepted and not looked at yet.
	JobQueued JobPhase = "queued"
	// JobPlacing looks for nodes, checks them and gets their grants, or waits for them.
	JobPlacing JobPhase = "placing"
	// JobStarting starts the ranks.
	JobStarting JobPhase = "starting"
	// JobHandshake waits until every rank has joined. A ring has none to watch.
	JobHandshake JobPhase = "handshake"
	// JobRunning has all ranks at work.
	JobRunning JobPhase = "running"
	// JobEnding ends its ranks and waits until all are known to have ended.
	JobEnding JobPhase = "ending"
	// JobBackoff waits before the next attempt.
	JobBackoff JobPhase = "backoff"
	// JobHomeLost has lost the node that drives it.
	JobHomeLost JobPhase = "home_lost"
	// JobSucceeded has ended with every rank's exit code 0.
	JobSucceeded JobPhase = "succeeded"
	// JobFailed has ended otherwise.
	JobFailed JobPhase = "failed"
	// JobStopped was ended by a person.
	JobStopped JobPhase = "stopped"
)

// JobPhaseInfo is a row of the table of phases.
type JobPhaseInfo struct {
	// Phase is the phase.
	Phase JobPhase
	// Next are the phases that may follow it; none for an end.
	Next []JobPhase
}

// JobPhases lists the phases and what may follow each. The way out of a phase
// with live ranks leads through ending, so that no attempt begins before the
// ranks of the last one have ended. From home_lost a job goes on where it was
// if its home comes back in time, or ends and starts anew under another.
func JobPhases() []JobPhaseInfo {
	return []JobPhaseInfo{
		{JobQueued, []JobPhase{JobPlacing, JobHomeLost, JobFailed, JobStopped}},
		{JobPlacing, []JobPhase{JobStarting, JobBackoff, JobHomeLost, JobFailed, JobStopped}},
		{JobStarting, []JobPhase{JobHandshake, JobRunning, JobEnding, JobHomeLost}},
		{JobHandshake, []JobPhase{JobRunning, JobEnding, JobHomeLost}},
		{JobRunning, []JobPhase{JobEnding, JobHomeLost}},
		{JobEnding, []JobPhase{JobBackoff, JobHomeLost, JobSucceeded, JobFailed, JobStopped}},
		{JobBackoff, []JobPhase{JobPlacing, JobHomeLost, JobFailed, JobStopped}},
		{JobHomeLost, []JobPhase{JobQueued, JobPlacing, JobStarting, JobHandshake, JobRunning, JobEnding, JobBackoff}},
		{JobSucceeded, nil},
		{JobFailed, nil},
		{JobStopped, nil},
	}
}

// Values lists the phases.
func (JobPhase) Values() []string {
	all := JobPhases()
	out := make([]string, len(all))
	for i, info := range all {
		out[i] = string(info.Phase)
	}
	return out
}

// Valid reports whether the phase belongs to this version.
func (p JobPhase) Valid() bool { return known(p) }

// Next lists the phases that may follow.
func (p JobPhase) Next() []JobPhase {
	for _, info := range JobPhases() {
		if info.Phase == p {
			return info.Next
		}
	}
	return nil
}

// May reports whether next may follow.
func (p JobPhase) May(next JobPhase) bool { return slices.Contains(p.Next(), next) }

// Ended reports whether the phase is an end.
func (p JobPhase) Ended() bool { return p == JobSucceeded || p == JobFailed || p == JobStopped }
