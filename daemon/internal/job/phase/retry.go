package phase

import (
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"fulmen/daemon/api"
)

// retry begins another attempt after one that failed, or ends the job.
func (m *step) retry(f Failure) {
	if m.mayRetry(f) {
		m.wait(f.Cause)
	} else {
		m.end(api.JobFailed)
	}
}

// mayRetry counts a failure and reports whether another attempt may follow. Deadlines of
// the job, for placing and for running, go over all its attempts.
func (m *step) mayRetry(f Failure) bool {
	a := m.attempt()
	if f.Reason == api.ReasonPreempted && a.MadeRoom() {
		a.Uncounted = true
		return !m.forgot && !f.Final
	}
	m.failedRuns++
	isFinal := f.Final || m.forgot || f.Reason == api.ReasonRunTooLong
	if m.Rules.Kept {
		m.ran = true // its back-off is the long one
		return !isFinal && m.mayKeep()
	}
	if f.Reason == api.ReasonStalled && m.Rules.OnStall == api.OnStallRestart {
		m.ran = true
		return !isFinal && m.mayKeep()
	}
	if m.ran = m.ran || m.handshakes() && len(a.Joined) == len(m.Ranks); m.ran {
		m.Job.CountedAttempts = 0
		return !isFinal && m.takeRetry()
	}
	if a.Uncounted = m.Rules.MaxAttempts == 0 && len(a.Joined) == 0 && m.isStart(f); !a.Uncounted {
		m.Job.CountedAttempts++
	}
	switch starts := m.starts(); {
	case isFinal || m.isOver:
		return false
	case m.Rules.MaxAttempts > 0:
		return starts < m.Rules.MaxAttempts
	case starts < api.DefaultStarts && m.Job.CountedAttempts < api.DefaultCountedAttempts:
		return true
	}
	return m.takeRetry()
}

// mayKeep reports whether a kept job is started again: not after it has ended too often in a
// row for one cause, which it would again.
func (m *step) mayKeep() bool {
	last, inARow := m.attempt(), 0
	for _, a := range slices.Backward(m.Job.Attempts) {
		isExcused := a.MadeRoom() || a.Reason == api.ReasonNodeAsleep
		switch {
		case a.StartedAt.IsZero(): // it did not begin
			continue
		case a.IsLong() && a.Attempt == last.Attempt:
			m.failedRuns = 1
		}
		if a.IsLong() || !isExcused && a.Reason != last.Reason {
			break
		}
		if !isExcused {
			inARow++
		}
	}
	return inARow < api.KeptInARow
}

// takeRetry takes one of the retries, if there is one.
func (m *step) takeRetry() bool {
	m.Job.Retried++
	return m.Job.Retried <= m.Rules.Retries
}

// starts counts the attempts that were started since all ranks had joined one.
func (m *step) starts() (n int) {
	for _, a := range slices.Backward(m.Job.Attempts) {
		if m.hasRun(a.Attempt) || a.Plan != nil && a.Plan.Backend.RDMA() && len(a.Joined) == len(a.Plan.Ranks) {
			break
		}
		if !a.StartedAt.IsZero() && !a.MadeRoom() {
			n++
		}
	}
	return n
}

// hasRun reports whether the job ran in an attempt.
func (m *step) hasRun(attempt int) bool {
	return slices.ContainsFunc(m.Job.Phases, func(p api.PhaseTime) bool {
		return p.Attempt == attempt && p.Phase == api.JobRunning
	})
}

// isStart reports whether what failed is the start of a group rather than its
// program. That is so until a rank has joined, unless a deadline had to end the
// start, or a program that had not begun to join ended by itself: neither gets
// better by being repeated quickly. Where no handshake is watched, the end of any
// program is its own.
func (m *step) isStart(f Failure) bool {
	return !f.deadline && !f.outside && (f.Exit == nil || m.handshakes())
}

// startBackoff is the longest wait between two starts, so that the default ones take some
// half a minute: a port is freed, or a cable put back, within it.
const startBackoff = 8 * time.Second

// wait is the back-off before the next look for nodes.
func (m *step) wait(why Cause) {
	m.Cause = nil
	d := m.Rules.backoff(m.failedRuns)
	if why.Reason == api.ReasonPreempted {
		d = m.Rules.backoff(1)
	}
	if !m.ran {
		d = min(d, startBackoff)
	}
	d = m.jittered(d)
	m.enter(api.JobBackoff, why)
	m.Job.NextAttemptAt = api.TimeOf(m.at.Add(d))
	m.start(TimerBackoff, d)
}

// jittered lengthens a back-off by up to a quarter, so that jobs that failed
// together do not come back together. The same attempt of the same job waits
// alike wherever it is computed.
func (m *step) jittered(d time.Duration) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(m.Job.SpecSHA256 + "/" + strconv.Itoa(m.failedRuns)))
	return d + d/4*time.Duration(h.Sum32()%1000)/1000
}
