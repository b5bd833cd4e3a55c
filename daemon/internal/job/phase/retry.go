package phase

import (
	"hash/fnv"
	"strconv"
	"time"

	"fulmen/daemon/api"
)

// retry begins another attempt after one that failed, or ends the job.
func (m *step) retry(f Failure) {
	switch free, may := m.mayRetry(f); {
	case free:
		m.Cause = nil
		m.enter(api.JobBackoff, f.Cause)
		m.place()
	case may:
		m.wait(f.Cause)
	default:
		m.end(api.JobFailed)
	}
}

// mayRetry counts a failure and reports whether another attempt may follow, and
// whether at once.
func (m *step) mayRetry(f Failure) (free, may bool) {
	a := m.attempt()
	m.failedRuns++
	if m.ran = m.ran || m.handshakes() && len(a.Joined) == len(m.Ranks); m.ran {
		m.Job.Retried++
		return false, !f.Final && m.Job.Retried <= m.Rules.Retries
	}
	if len(a.Joined) == 0 && m.isStart(f) && !f.Final && m.free < api.MaxFreeRestarts {
		if m.free == 0 {
			m.start(TimerFree, api.FreeRestartWindow)
		}
		m.free++
		a.Uncounted = true
		return true, true
	}
	m.Job.CountedAttempts++
	return false, !f.Final && m.Job.CountedAttempts < m.Rules.MaxAttempts
}

// isStart reports whether what failed is the start of a group rather than its
// program. That is so until a rank has joined, unless a deadline had to end the
// start, or a program that had not begun to join ended by itself: neither gets
// better by being repeated quickly. Where no handshake is watched, the end of any
// program is its own.
func (m *step) isStart(f Failure) bool {
	return !f.deadline && !f.outside && (f.Exit == nil || m.handshakes())
}

// wait is the back-off before the next look for nodes.
func (m *step) wait(why Cause) {
	m.Cause = nil
	d := m.jittered(m.Rules.backoff(m.failedRuns))
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
