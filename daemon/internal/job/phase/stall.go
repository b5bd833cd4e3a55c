package phase

import (
	"slices"

	"fulmen/daemon/api"
)

// Stalled says that the attempt's group does not get on, or, where What is empty, that it
// does again.
type Stalled struct {
	Attempt int
	// Suspect is the rank for which it does not; -1 where none can be named.
	Suspect int
	// What is what was seen, as a part of a sentence.
	What string
}

// AskAgain has the nodes say at once how their ranks are.
type AskAgain struct{ Attempt int }

// home says so in the job's document, or ends the attempt for it. The first that was seen of
// a suspect stays what the document says.
func (e Stalled) home(m *step) {
	if !m.current(e.Attempt) || m.Job.Phase != api.JobRunning || e.Suspect >= len(m.Ranks) {
		return
	}
	was := m.Job.Suspect
	switch {
	case e.What == "":
		m.troubled = m.troubled || m.Job.Reason == api.ReasonStalled // said by the daemon before
		m.stall = Cause{}
		m.reportTrouble()
		return
	case m.stall.Reason != "" && (was == nil) == (e.Suspect < 0) && (was == nil || *was == e.Suspect):
		return
	}
	var suspect *int
	why := Cause{Reason: api.ReasonStalled, Message: "The job is stalled: its ranks " + e.What + ".", Final: m.Rules.OnStall == api.OnStallFail}
	if e.Suspect >= 0 {
		suspect, why.WaitingFor = &e.Suspect, m.named([]int{e.Suspect})
		why.Message = "The job is stalled: " + why.WaitingFor + " " + e.What + "."
	}
	if m.Rules.OnStall == api.OnStallRestart || m.Rules.OnStall == api.OnStallFail {
		m.fail(Failure{Cause: why, Rank: e.Suspect})
	} else {
		m.stall = why
		m.reportTrouble()
	}
	m.Job.Suspect, m.dirty = suspect, true
}

func (e AskAgain) home(m *step) {
	if m.current(e.Attempt) && m.Job.Phase == api.JobRunning && m.Answered() {
		m.renew()
	}
}

// Answered reports whether every node has answered the last renewal.
func (s *State) Answered() bool {
	return !slices.ContainsFunc(s.Nodes, func(n Node) bool { return n.asked })
}
