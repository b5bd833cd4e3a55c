package api

// Reasons: the daemon and its installation.
const (
	// ReasonStopped: Fulmen is stopped.
	ReasonStopped Reason = "stopped"
	// ReasonStarting: the daemon is starting.
	ReasonStarting Reason = "starting"
	// ReasonStopping: the daemon is stopping.
	ReasonStopping Reason = "stopping"
	// ReasonNoDaemon: no daemon answers.
	ReasonNoDaemon Reason = "no_daemon"
	// ReasonAlreadyRunning: another daemon holds the state folder.
	ReasonAlreadyRunning Reason = "already_running"
	// ReasonAPIPortTaken: another program holds the API's port.
	ReasonAPIPortTaken Reason = "api_port_taken"
	// ReasonConfigInvalid: the configuration has an error; the one before it is still in force.
	ReasonConfigInvalid Reason = "config_invalid"
	// ReasonConfigUnknownKey: the configuration has a key that is not known.
	ReasonConfigUnknownKey Reason = "config_unknown_key"
	// ReasonNeedsRestart: a change takes effect after a restart of the daemon.
	ReasonNeedsRestart Reason = "needs_restart"
	// ReasonStateReadOnly: the state folder cannot be written.
	ReasonStateReadOnly Reason = "state_read_only"
	// ReasonStateCorrupt: the state database was damaged and was set aside.
	ReasonStateCorrupt Reason = "state_corrupt"
	// ReasonInsecurePermissions: a file that root uses can be changed by others.
	ReasonInsecurePermissions Reason = "insecure_permissions"
	// ReasonNotInApplications: Fulmen runs outside the Applications folder.
	ReasonNotInApplications Reason = "not_in_applications"
	// ReasonDaemonOlderThanApp: the daemon is older than the app.
	ReasonDaemonOlderThanApp Reason = "daemon_older_than_app"
	// ReasonDaemonNewerThanApp: the daemon is newer than the app.
	ReasonDaemonNewerThanApp Reason = "daemon_newer_than_app"
	// ReasonProgramReplaced: another version of Fulmen is installed than the one that runs.
	ReasonProgramReplaced Reason = "program_replaced"
	// ReasonCrashLoop: the daemon ended unexpectedly several times.
	ReasonCrashLoop Reason = "crash_loop"
	// ReasonTooManyProcesses: the system allows no more processes.
	ReasonTooManyProcesses Reason = "too_many_processes"
	// ReasonTooManyFiles: the system allows no more open files.
	ReasonTooManyFiles Reason = "too_many_files"
	// ReasonNotSimulated: nothing is simulated here.
	ReasonNotSimulated Reason = "not_simulated"
)

// daemonReasons are the rows about the daemon and its installation.
func daemonReasons() []ReasonInfo {
	return []ReasonInfo{
		{Reason: ReasonStopped, Code: CodePrecondition,
			Text:   "Fulmen is stopped.",
			Remedy: "Start it with `fulmen start` or from the menu."},
		{Reason: ReasonStarting, Code: CodePrecondition,
			Text:   "The daemon is starting.",
			Remedy: "Repeat it in a moment."},
		{Reason: ReasonStopping, Code: CodePrecondition,
			Text: "The daemon is stopping."},
		{Reason: ReasonNoDaemon, Code: CodeUnreachable,
			Text:   "No daemon answers.",
			Remedy: "Start it with `fulmend`, or see `fulmen doctor`."},
		{Reason: ReasonAlreadyRunning, Code: CodeConflict,
			Text: "Another daemon holds the state folder."},
		{Reason: ReasonAPIPortTaken, Severity: SeverityInfo,
			Text:   "Another program holds the API's port.",
			Remedy: "Scripts find the port in use in api.json."},
		{Reason: ReasonConfigInvalid, Code: CodeInvalid, Severity: SeverityWarning,
			Text:   "The configuration has an error; the one before it is still in force.",
			Remedy: "The message gives the line.", Command: "fulmen config"},
		{Reason: ReasonConfigUnknownKey, Code: CodeInvalid, Severity: SeverityWarning,
			Text:   "The configuration has a key that is not known.",
			Remedy: "The message names the nearest one.", Command: "fulmen config"},
		{Reason: ReasonNeedsRestart, Severity: SeverityInfo,
			Text: "A change takes effect after a restart of the daemon."},
		{Reason: ReasonStateReadOnly, Code: CodeDenied, Severity: SeverityError,
			Text: "The state folder cannot be written.", Command: "fulmen doctor"},
		{Reason: ReasonStateCorrupt, Code: CodeInternal, Severity: SeverityError,
			Text:   "The state database was damaged and was set aside.",
			Remedy: "Its name is in the message; nothing was deleted.", Command: "fulmen doctor"},
		{Reason: ReasonInsecurePermissions, Code: CodeDenied, Severity: SeverityError,
			Text:   "A file that root uses can be changed by others.",
			Remedy: "The message names it."},
		{Reason: ReasonNotInApplications, Code: CodePrecondition, Severity: SeverityWarning,
			Text:   "Fulmen runs outside the Applications folder.",
			Remedy: "Move it there."},
		{Reason: ReasonDaemonOlderThanApp, Severity: SeverityWarning,
			Text:   "The daemon is older than the app.",
			Remedy: "Restart the daemon."},
		{Reason: ReasonDaemonNewerThanApp, Severity: SeverityWarning,
			Text:   "The daemon is newer than the app.",
			Remedy: "Restart the app."},
		{Reason: ReasonProgramReplaced, Severity: SeverityInfo,
			Text:   "Fulmen was upgraded; the daemon still is the one from before.",
			Remedy: "Run `fulmen restart`; jobs go on."},
		{Reason: ReasonCrashLoop, Severity: SeverityError,
			Text:   "The daemon ended unexpectedly, several times in a short while.",
			Remedy: "See `fulmen logs`; `fulmen report` collects what helps to find the fault.", Command: "fulmen logs"},
		{Reason: ReasonTooManyProcesses, Code: CodeExhausted,
			Text: "The system allows no more processes."},
		{Reason: ReasonTooManyFiles, Code: CodeExhausted,
			Text: "The system allows no more open files."},
		{Reason: ReasonNotSimulated, Code: CodePrecondition,
			Text:   "Nothing is simulated here.",
			Remedy: "Start a daemon with `fulmend run --simulate SCENARIO`."},
	}
}
