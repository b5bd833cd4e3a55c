package phase

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// causeWindow is how long after a rank's failure what may have brought it about
// is still taken for the cause, and by how much the clocks of nodes may differ.
const causeWindow = time.Second

// failureOf is a rank's end as the cause of its group's. A rank of a group that
// has a handshake and that ends before it joined never joined, however it ended.
func (m *step) failureOf(rank int, why Cause, exit *api.Exit, handshake api.HandshakeState, severed bool) Failure {
	// Its node ends a rank, too, whose side channel broke.
	f := Failure{Cause: why, Rank: rank, Exit: exit, severed: severed && byItsCode(exit) || why.Reason == api.ReasonSideChannelLost}
	f.Reason = cmp.Or(f.Reason, reasonOf(exit))
	// Its Python finds no MLX, and it ended with an error: it would do so again.
	f.Final = f.Final || byItsCode(exit) && *exit.Code != 0 && m.noted(api.ReasonProgramMLXMissing)
	if !m.handshakes() || m.hasJoined(rank) || !byItsCode(exit) {
		return f
	}
	f.outside = handshake == api.HandshakeNone
	if f.Reason == "" || f.Reason == api.ReasonRankFailed {
		f.Reason = api.ReasonNeverJoined
		if f.Message != "" {
			f.Message = strings.TrimSuffix(f.Message, ".") + ", before it had joined the group."
		}
	}
	// One that ended well and never tried would do so again.
	f.Final = f.Final || f.outside && *exit.Code == 0
	return f
}

// handshakes reports whether the attempt's ranks have a handshake to be watched.
func (m *step) handshakes() bool {
	a := m.attempt()
	return a != nil && a.Plan != nil && a.Plan.Backend.RDMA() && len(m.Ranks) > 1 && !m.Rules.AllowSolo
}

func (m *step) hasJoined(rank int) bool {
	a := m.attempt()
	return a != nil && slices.Contains(a.Joined, rank)
}

// byItsCode reports whether a program ended by itself.
func byItsCode(e *api.Exit) bool { return e != nil && e.Code != nil && e.Signal == 0 && !e.OutOfMemory }

// reasonOf names the end of a process; empty for one that ended well.
func reasonOf(e *api.Exit) api.Reason {
	switch {
	case e == nil:
		return api.ReasonRankLost
	case e.OutOfMemory:
		return api.ReasonRankOutOfMemory
	case e.Signal != 0 && slices.Contains(crashes(), e.Signal):
		return api.ReasonRankCrashed
	case e.Signal != 0:
		return api.ReasonRankKilled
	case e.Status() == 0:
		return ""
	}
	return api.ReasonRankFailed
}

// crashes are the signals that a program brings on itself and that have the same
// number on macOS and Linux: SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGSEGV.
func crashes() []int { return []int{4, 5, 6, 8, 11} }

// struck reports whether a process was ended from outside its own code: what its
// peers do does not bring that about. An abort may be an error that nobody caught.
func struck(e *api.Exit) bool {
	return e != nil && (e.OutOfMemory || slices.Contains([]int{4, 8, 9, 11}, e.Signal))
}

// failedAt notes when the program ended whose failure is told next.
func (m *step) failedAt(at api.Time) {
	if m.Cause == nil {
		m.causeAt = at
	}
}

// wasFirst makes a rank the first cause that failed before the one that was heard
// of first. News of a rank next door come sooner, and a rank whose side channel
// was closed on it only complains of the one that failed. Otherwise the programs'
// ends decide, by their nodes' clocks, which may differ by a little.
func (m *step) wasFirst(f Failure, at api.Time) {
	if m.Cause == nil || m.Cause.Rank < 0 || m.Cause.Rank == f.Rank || f.Exit == nil ||
		f.Exit.Status() == 0 && f.Reason != api.ReasonNeverJoined {
		return
	}
	was := m.Cause
	if at.IsZero() && !(was.severed && breaksOthers(f.Reason)) {
		return // it was ended, and not for a fault of its own
	}
	switch {
	case f.severed != was.severed:
		if f.severed {
			return
		}
	case was.Exit == nil:
		return // its node is lost, or the rank
	case m.causeAt.IsZero():
		return
	case struck(f.Exit) != struck(was.Exit) && at.Sub(m.causeAt.Time).Abs() <= causeWindow:
		if struck(was.Exit) {
			return
		}
	case !at.Before(m.causeAt.Time):
		return
	}
	m.replace(f, at)
}

// breaksOthers reports whether a rank's node has ended it for something by which it also
// breaks the side channels of the others.
func breaksOthers(r api.Reason) bool {
	return slices.Contains([]api.Reason{api.ReasonStrayConnection, api.ReasonPortTaken, api.ReasonSideChannelLimit}, r)
}

// lay makes something that is no rank's own failure the cause of an attempt that
// is being ended for a rank that failed because of it: one that was lost before,
// or at that moment.
func (m *step) lay(f Failure, since api.Time) {
	if m.Job.Phase != api.JobEnding || m.Cause == nil || m.Cause.Exit == nil || m.Job.StopRequested != nil {
		return
	}
	if m.Cause.severed || !since.IsZero() && !since.After(m.causeReported.Time) || since.IsZero() && m.at.Sub(m.causeReported.Time) <= causeWindow {
		m.replace(f, api.Time{})
	}
}

// replace puts another cause in the place of the one that was told first.
func (m *step) replace(f Failure, at api.Time) {
	received := m.causeReported
	m.Cause, m.causeAt = nil, at
	if a := m.attempt(); a != nil {
		a.FirstFailed, a.ExitCode = nil, nil
	}
	m.fail(f)
	m.causeReported = received
	m.enter(m.Job.Phase, m.Cause.Cause)
}
