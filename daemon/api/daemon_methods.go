package api

func daemonMethods() []MethodInfo {
	return []MethodInfo{
		method[DaemonAuthenticateParams, Empty]("daemon.authenticate", ClassRead, "",
			"The first message of a browser: shows a token, since a page cannot set the header. Any other first message without a token is refused."),
		method[DaemonAuthorizeParams, Empty]("daemon.authorize", ClassRead, "",
			"Raises this connection to class admin with a macOS authorisation for the admin right. Unix socket only."),
		method[Empty, DaemonInfoResult]("daemon.info", ClassRead, "",
			"Version, node, addresses, folders, mode, and what this platform can do."),
		method[Empty, DaemonConfigResult]("daemon.config", ClassRead, "",
			"The configuration in force, key by key, with defaults and where each value comes from."),
		method[DaemonSetConfigParams, Empty]("daemon.set_config", ClassAdmin, "",
			"Changes keys of the configuration, all or none; comments of the file stay."),
		method[DaemonDoctorParams, DaemonDoctorResult]("daemon.doctor", ClassRead, "",
			"Checks the installation and this node, each check with what to do."),
		method[Empty, DaemonReportResult]("daemon.report", ClassUser, "",
			"What helps to find a fault; texts that are not known to be harmless are replaced. It is shown and saved, never sent."),
		method[DaemonLogsParams, DaemonLogsResult]("daemon.logs", ClassAdmin, "daemon.logged",
			"The daemon's log, and with follow what is added from now on."),
		method[Empty, DaemonTokensResult]("daemon.tokens", ClassUser, "",
			"One's own tokens, without their secrets."),
		method[DaemonCreateTokenParams, DaemonCreateTokenResult]("daemon.create_token", ClassUser, "",
			"Makes a token for one's own uid. Unix socket only. The secret is shown once."),
		method[DaemonRevokeTokenParams, Empty]("daemon.revoke_token", ClassUser, "",
			"Ends a token of one's own, and its connections."),
		method[Empty, DaemonBrowserSecretResult]("daemon.browser_secret", ClassUser, "",
			"Makes the one-time secret with which the dashboard is opened."),
		method[DaemonRedeemSecretParams, DaemonCreateTokenResult]("daemon.redeem_secret", ClassRead, "",
			"Turns a one-time secret into a token. Allowed as the first message, like authenticate."),
		method[DaemonSimulateParams, Empty]("daemon.simulate", ClassAdmin, "",
			"Changes a simulated cluster: plug, unplug, set. Refused where nothing is simulated."),
		method[Empty, Empty]("daemon.start", ClassAdmin, "",
			"Starts a daemon that was stopped and that its supervisor woke to answer: connections end, and the next one finds it running. Where it runs, nothing happens. Unix socket only, there."),
		method[DaemonStopParams, Empty]("daemon.stop", ClassAdmin, "",
			"Stops the daemon. Running ranks go on until their lease ends, unless they are to be ended. Where its supervisor holds its sockets it answers every later call but daemon.start with stopped, until then or until the machine restarts."),
		method[Empty, Empty]("daemon.restart", ClassAdmin, "",
			"Ends the daemon in order and starts it again, with the program that is on the disk by then: the end of an upgrade. Jobs go on."),
	}
}

// DaemonAuthenticateParams shows a token.
type DaemonAuthenticateParams struct {
	// Token is the secret.
	Token string `json:"token"`
}

// DaemonAuthorizeParams shows an authorisation.
type DaemonAuthorizeParams struct {
	// Authorization is an AuthorizationExternalForm, base64.
	Authorization []byte `json:"authorization"`
}

// DaemonInfoResult is what the daemon is.
type DaemonInfoResult struct {
	// Node is its node.
	Node NodeID `json:"node"`
	// Cluster is its cluster.
	Cluster ClusterID `json:"cluster"`
	// Version is the version of Fulmen.
	Version string `json:"version"`
	// Commit is the revision that it was built from.
	Commit string `json:"commit,omitempty"`
	// GoVersion is the compiler's.
	GoVersion string `json:"go_version"`
	// Protocol is the newest peer protocol.
	Protocol int `json:"protocol"`
	// Platform is the system.
	Platform Platform `json:"platform"`
	// Mode is as whom it runs.
	Mode DaemonMode `json:"mode"`
	// PID is its process id.
	PID int `json:"pid"`
	// StartedAt is when it started.
	StartedAt Time `json:"started_at"`
	// APIURL is the WebSocket's address.
	APIURL string `json:"api_url"`
	// Socket is the Unix socket's path.
	Socket string `json:"socket"`
	// Activated says that launchd or systemd hold the sockets: a stopped daemon still answers, and can
	// be started by daemon.start.
	Activated bool `json:"activated,omitempty"`
	// PeerPort is where peers connect.
	PeerPort int `json:"peer_port"`
	// StateFolder is where its state is.
	StateFolder string `json:"state_folder"`
	// Scenario is the simulated scenario; absent where nothing is simulated.
	Scenario string `json:"scenario,omitempty"`
	// Features are what the platform can do, and why not what it cannot.
	Features []FeatureInfo `json:"features"`
	// Class is the highest class of this connection.
	Class MethodClass `json:"class"`
	// User is the local account of the caller.
	User string `json:"user"`
}

// FeatureInfo is one thing that a platform can do or cannot.
type FeatureInfo struct {
	// Feature is its name.
	Feature string `json:"feature"`
	// Supported says whether it can.
	Supported bool `json:"supported"`
	// Reason is why not.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
}

// DaemonMode is as whom a daemon runs.
type DaemonMode string

const (
	// ModeSystem is root.
	ModeSystem DaemonMode = "system"
	// ModeUser is a user, whose own jobs alone it can run.
	ModeUser DaemonMode = "user"
)

// Values lists the modes.
func (DaemonMode) Values() []string { return words(ModeSystem, ModeUser) }

// Valid reports whether the mode belongs to this version.
func (m DaemonMode) Valid() bool { return known(m) }

// DaemonSimulateParams is one change.
type DaemonSimulateParams struct {
	// Line is the change, in the words of a scenario's time line.
	Line string `json:"line"`
}

// DaemonStopParams says what becomes of the ranks.
type DaemonStopParams struct {
	// EndJobs ends the jobs that run here first.
	EndJobs bool `json:"end_jobs,omitempty"`
}
