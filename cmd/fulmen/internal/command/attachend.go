package command

import (
	"encoding/json"
	"errors"

	"fulmen/cmd/fulmen/internal/show"
	"fulmen/daemon/api"
)

// spec is what was asked for; empty where it cannot be read.
func (s *jobState) spec() api.JobSpec {
	var spec api.JobSpec
	_ = json.Unmarshal(s.job.Spec, &spec) // the daemon has checked it
	return spec
}

// status is the exit status of fulmen run for a job that has ended.
func (s *jobState) status(told *int) int {
	switch {
	case told != nil:
		return *told
	case s.job.ExitCode != nil:
		return *s.job.ExitCode
	case s.job.Phase == api.JobSucceeded:
		return api.ExitOK
	}
	return api.RunStatus(s.job.Reason)
}

// finish says what became of a job that has ended.
func (a *attachment) finish() (int, error) {
	a.leaveRaw()
	a.showLast()
	if err := a.lines.Close(); err != nil {
		return api.ExitNotStarted, err
	}
	status := a.state.status(a.exitCode)
	if a.state.job.Phase == api.JobStopped && a.stoppedBy != nil {
		status = statusOf(a.stoppedBy) // however its ranks took that
	}
	return a.tellMissing(status, a.state.outcome(a.names))
}

// outcome is why a job did not succeed, as an error; nil where it did.
func (s *jobState) outcome(names map[api.NodeID]string) error {
	switch s.job.Phase {
	case api.JobSucceeded:
		return nil
	case api.JobStopped:
		if s.job.Reason == api.ReasonStoppedByPerson || s.job.Reason == "" {
			return silent{} // whoever did that knows
		}
	}
	return show.Outcome(s.job, s.list(), names)
}

// endedAs makes the end of a command of a job's end: its status, and the error
// that is explained.
func endedAs(status int, err error) error {
	switch {
	case err == nil && status == api.ExitOK:
		return nil
	case err == nil || errors.As(err, &silent{}):
		return exited{status}
	}
	return withStatus{status, err}
}

// withStatus is an error after which this program ends with a status of its own.
type withStatus struct {
	status int
	error
}

func (w withStatus) Unwrap() error { return w.error }
