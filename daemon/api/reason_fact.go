package api

// Reasons: why a field of a document is absent.
const (
	// ReasonNotSupportedByHardware: this hardware does not have it.
	ReasonNotSupportedByHardware Reason = "not_supported_by_hardware"
	// ReasonNotSupportedByOS: this version of the system does not tell.
	ReasonNotSupportedByOS Reason = "not_supported_by_os"
	// ReasonNotSupportedByPlatform: Fulmen cannot learn it on this platform.
	ReasonNotSupportedByPlatform Reason = "not_supported_by_platform"
	// ReasonNeedsRoot: only a daemon that runs as root can learn it.
	ReasonNeedsRoot Reason = "needs_root"
	// ReasonPermissionDenied: the system did not allow to read it.
	ReasonPermissionDenied Reason = "permission_denied"
	// ReasonNotYetRead: it has not been read yet.
	ReasonNotYetRead Reason = "not_yet_read"
	// ReasonNotMeasured: it has not been measured yet.
	ReasonNotMeasured Reason = "not_measured"
	// ReasonReadFailed: reading it failed; the log has the cause.
	ReasonReadFailed Reason = "read_failed"
	// ReasonSourceGone: what told it went away.
	ReasonSourceGone Reason = "source_gone"
	// ReasonSourceMalformed: the system told something that makes no sense.
	ReasonSourceMalformed Reason = "source_malformed"
	// ReasonSourcesDisagree: two sources of the system contradict each other.
	ReasonSourcesDisagree Reason = "sources_disagree"
	// ReasonNotInScenario: the simulated scenario does not say.
	ReasonNotInScenario Reason = "not_in_scenario"
	// ReasonNotConnected: nothing is connected.
	ReasonNotConnected Reason = "not_connected"
	// ReasonMLXMissing: MLX is not where it must be.
	ReasonMLXMissing Reason = "mlx_missing"
	// ReasonMLXNoAnswer: MLX, or the GPU's driver below it, did not answer.
	ReasonMLXNoAnswer Reason = "mlx_no_answer"
	// ReasonPSIUnavailable: this Linux does not announce memory pressure.
	ReasonPSIUnavailable Reason = "psi_unavailable"
	// ReasonClockStepped: the wall clock was set while the daemon ran.
	ReasonClockStepped Reason = "clock_stepped"
	// ReasonOSTooOld: the system is older than this needs.
	ReasonOSTooOld Reason = "os_too_old"
)

// factReasons are the rows about why a field of a document is absent.
func factReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonNotSupportedByHardware, Code: CodeUnsupported, Unknown: true,
			Text: "This hardware does not have it."},
		{Reason: ReasonNotSupportedByOS, Code: CodeUnsupported, Unknown: true,
			Text: "This version of the system does not tell."},
		{Reason: ReasonNotSupportedByPlatform, Code: CodeUnsupported, Unknown: true,
			Text: "Fulmen cannot learn it on this platform."},
		{Reason: ReasonNeedsRoot, Code: CodeDenied, Unknown: true,
			Text:   "Only a daemon that runs as root can learn it.",
			Remedy: "Install Fulmen as a system service."},
		{Reason: ReasonPermissionDenied, Code: CodeDenied, Unknown: true,
			Text: "The system did not allow to read it."},
		{Reason: ReasonNotYetRead, Code: CodePrecondition, Unknown: true,
			Text: "It has not been read yet."},
		{Reason: ReasonNotMeasured, Code: CodePrecondition, Unknown: true,
			Text: "It has not been measured yet."},
		{Reason: ReasonReadFailed, Code: CodeInternal, Unknown: true,
			Text: "Reading it failed; the log has the cause."},
		{Reason: ReasonSourceGone, Code: CodeNotFound, Unknown: true,
			Text: "What told it went away."},
		{Reason: ReasonSourceMalformed, Code: CodeInvalid, Unknown: true,
			Text: "The system told something that makes no sense."},
		{Reason: ReasonSourcesDisagree, Code: CodeConflict, Severity: SeverityWarning, Unknown: true,
			Text: "Two sources of the system contradict each other."},
		{Reason: ReasonNotInScenario, Code: CodeNotFound, Unknown: true,
			Text: "The simulated scenario does not say."},
		{Reason: ReasonNotConnected, Code: CodeNotFound, Unknown: true,
			Text: "Nothing is connected."},
		{Reason: ReasonMLXMissing, Code: CodePrecondition, Severity: SeverityError, Unknown: true,
			Text:   "MLX is not where it must be.",
			Remedy: "Reinstall Fulmen, or run `make deps` in a source tree."},
		{Reason: ReasonMLXNoAnswer, Code: CodePrecondition, Severity: SeverityWarning, Unknown: true,
			Text:   "MLX did not answer.",
			Remedy: "It is asked again by itself. On a Mac that has just started, log in once, since the GPU may need a session; see `fulmen report` if it stays so."},
		{Reason: ReasonPSIUnavailable, Severity: SeverityInfo, Unknown: true,
			Text:   "This system does not announce memory pressure, so memory is read only while somebody watches.",
			Remedy: "Start Linux with psi=1 if you want it."},
		{Reason: ReasonClockStepped, Severity: SeverityInfo,
			Text:   "The clock of this machine was set while Fulmen ran.",
			Remedy: "Nothing has to be done: dates shown before may be off, and no deadline is."},
		{Reason: ReasonOSTooOld, Code: CodeUnsupported, Severity: SeverityWarning, Unknown: true,
			Text:   "The system is older than this needs.",
			Remedy: "Update macOS."},
	}
}
