package phase

import (
	"time"

	"fulmen/daemon/api"
)

// What the home knows of the ranks' output is one renewal old, and what their nodes
// know is as old again. So it asks before it ends a job for silence: the first question
// has the nodes ask their shims, the second brings what these said, listenFor later.
const (
	listens   = 2
	listenFor = 500 * time.Millisecond
)

// receive begins to count silence, anew where it was counted.
func (m *step) receive() {
	m.listened = 0
	if m.Job.Phase == api.JobRunning && m.Rules.Silence > 0 {
		m.start(TimerSilence, m.Rules.Silence)
	}
}

func (Printed) home(m *step) { m.receive() }

// silent is when nothing was heard for as long as may be.
func (m *step) silent() {
	isAsked := !m.Answered()
	switch {
	case m.listened == listens && !isAsked:
		m.late(api.ReasonSilentTooLong, "No rank printed anything for "+seconds(m.Rules.Silence), nil)
		return
	case !isAsked:
		m.listened++
		m.renew()
	}
	if m.Job.Phase == api.JobRunning {
		m.start(TimerSilence, listenFor)
	}
}
