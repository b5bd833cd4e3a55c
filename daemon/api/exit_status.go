package api

// What `fulmen` ends with. `fulmen run` ends with the first failing rank's own
// status; every other command with ExitOK or ExitFailed.
const (
	// ExitOK is success.
	ExitOK = 0
	// ExitFailed is any failure of a command other than run.
	ExitFailed = 1
	// ExitUsage is a command line that makes no sense.
	ExitUsage = 2
	// ExitNotStarted is a job that Fulmen could not start or lost, or no daemon.
	ExitNotStarted = 125
	// ExitNotExecutable is a program that is there and cannot be executed.
	ExitNotExecutable = 126
	// ExitProgramMissing is a program that is not there.
	ExitProgramMissing = 127
	// ExitRestart is that of fulmend where launchd or systemd are to start it again: it was asked to
	// restart, after an upgrade above all. The number is EX_TEMPFAIL of sysexits(3).
	ExitRestart = 75
	// ExitSignalBase plus the signal's number is a rank that a signal ended.
	ExitSignalBase = 128
)

// Status is the exit status by which a shell would report the exit.
func (e Exit) Status() int {
	switch {
	case e.Signal != 0:
		return ExitSignalBase + e.Signal
	case e.Code != nil:
		return *e.Code
	}
	return ExitNotStarted
}

// RunStatus is the exit status of `fulmen run` for a job that ended for a
// reason before any rank could give one of its own.
func RunStatus(reason Reason) int {
	switch reason {
	case ReasonProgramNotExecutable, ReasonMacOSPrivacy:
		return ExitNotExecutable
	case ReasonProgramMissing, ReasonInterpreterMissing:
		return ExitProgramMissing
	}
	return ExitNotStarted
}
