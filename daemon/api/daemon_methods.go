package api

import "encoding/json"

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
			"What helps to find a fault; texts that are not known to be harmless are replaced. It is shown and saved, never sent. No daemon answers it yet: fulmen report makes it."),
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
	// Mode is the account under which it runs.
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

// DaemonConfigResult is the configuration in force.
type DaemonConfigResult struct {
	// File is the path of the configuration.
	File string `json:"file"`
	// Keys are all keys, ordered by name.
	Keys []ConfigKey `json:"keys"`
	// Error says what is wrong with the file, where an older state of it is in force.
	Error *Error `json:"error,omitempty"`
}

// ConfigKey is one key of the configuration.
type ConfigKey struct {
	// Key is its name with its table, joined by dots.
	Key string `json:"key"`
	// Value is the value in force.
	Value json.RawMessage `json:"value"`
	// Default is the value where the file has none.
	Default json.RawMessage `json:"default"`
	// Set says that the file has one.
	Set bool `json:"set,omitempty"`
	// NeedsRestart says that a change takes effect after a restart of the daemon.
	NeedsRestart bool `json:"needs_restart,omitempty"`
	// Doc is what it does.
	Doc string `json:"doc"`
}

// DaemonSetConfigParams changes keys.
type DaemonSetConfigParams struct {
	// Set are the new values by key.
	Set map[string]json.RawMessage `json:"set,omitempty"`
	// Unset are the keys that go back to their default.
	Unset []string `json:"unset,omitempty"`
}

// DaemonDoctorParams say what to check.
type DaemonDoctorParams struct {
	// Hardware compares each fact of the hardware with a second source of the system, a check each, and does nothing else. It may take some seconds.
	Hardware bool `json:"hardware,omitempty"`
}

// DaemonDoctorResult is what was checked.
type DaemonDoctorResult struct {
	// Checks are the checks, in the order in which a person goes through them.
	Checks []DoctorCheck `json:"checks"`
}

// DoctorCheck is one check.
type DoctorCheck struct {
	// Check is its name.
	Check string `json:"check"`
	// Answer is yes, no or unknown.
	Answer Answer `json:"answer"`
	// Reason is why it is not yes.
	Reason Reason `json:"reason,omitempty"`
	// Text is one sentence for a person.
	Text string `json:"text"`
	// Remedy is what to do.
	Remedy string `json:"remedy,omitempty"`
}

// DaemonReportResult is the report.
type DaemonReportResult struct {
	// Files are its files.
	Files []ReportFile `json:"files"`
	// Redacted counts what was replaced, by what it was.
	Redacted map[string]int `json:"redacted"`
}

// ReportFile is one file of a report.
type ReportFile struct {
	// Name is its name.
	Name string `json:"name"`
	// Text is its content.
	Text string `json:"text"`
}

// DaemonLogsParams says which lines.
type DaemonLogsParams struct {
	// TailLines is how many of the last lines; 0 = 200.
	TailLines int `json:"tail_lines,omitempty"`
	// Level leaves out what is less important; empty = info.
	Level LogLevel `json:"level,omitempty"`
	// Package leaves out other packages.
	Package string `json:"package,omitempty"`
	// Follow goes on with what is added later.
	Follow bool `json:"follow,omitempty"`
}

// DaemonLogsResult is the lines so far.
type DaemonLogsResult struct {
	// Sub names the subscription; absent without Follow.
	Sub Subscription `json:"sub,omitempty"`
	// Lines are the lines, the oldest first.
	Lines []LogLine `json:"lines"`
}

// DaemonLogged is lines that were added.
type DaemonLogged struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// N numbers the notifications of the subscription, from 1; absent where Lagged.
	N uint64 `json:"n,omitempty"`
	// Lines are the lines, the oldest first.
	Lines []LogLine `json:"lines,omitempty"`
	// Lagged says that lines were dropped and the subscription is over.
	Lagged bool `json:"lagged,omitempty"`
}

// LogLine is one line of the daemon's log.
type LogLine struct {
	// At is when.
	At Time `json:"at"`
	// Level is how important it is.
	Level LogLevel `json:"level"`
	// Package is which part wrote it.
	Package string `json:"package"`
	// Text is what it says.
	Text string `json:"text"`
	// Fields are its values, by name.
	Fields map[string]string `json:"fields,omitempty"`
}

// DaemonTokensResult lists tokens.
type DaemonTokensResult struct {
	// Tokens are ordered by when they were made.
	Tokens []TokenInfo `json:"tokens"`
}

// TokenInfo is a token without its secret.
type TokenInfo struct {
	// Name is what its owner called it.
	Name string `json:"name"`
	// Endpoint says that it is a key of the endpoint, and counts nowhere else.
	Endpoint bool `json:"endpoint,omitempty"`
	// CreatedAt is when it was made.
	CreatedAt Time `json:"created_at"`
	// UsedAt is when it was last used.
	UsedAt Time `json:"used_at,omitzero"`
	// ExpiresAt is when it stops to count; absent = never.
	ExpiresAt Time `json:"expires_at,omitzero"`
}

// DaemonCreateTokenParams says which token.
type DaemonCreateTokenParams struct {
	// Name tells it apart from others of the same uid.
	Name string `json:"name"`
	// ValidS is how long it counts; 0 = for ever.
	ValidS float64 `json:"valid_s,omitempty"`
	// Endpoint makes a key of the endpoint, which counts nowhere else.
	Endpoint bool `json:"endpoint,omitempty"`
}

// DaemonCreateTokenResult is the token.
type DaemonCreateTokenResult struct {
	// Token is the secret.
	Token string `json:"token"`
	// Info is what is kept of it.
	Info TokenInfo `json:"info"`
}

// DaemonRevokeTokenParams says which token.
type DaemonRevokeTokenParams struct {
	// Name is the token's.
	Name string `json:"name"`
}

// DaemonBrowserSecretResult is the dashboard's address.
type DaemonBrowserSecretResult struct {
	// URL is the address with the secret in its fragment.
	URL string `json:"url"`
	// ExpiresAt is when the secret stops to count.
	ExpiresAt Time `json:"expires_at"`
}

// DaemonRedeemSecretParams shows a one-time secret.
type DaemonRedeemSecretParams struct {
	// Secret is the secret.
	Secret string `json:"secret"`
}

// Sockets that launchd or systemd hold for the daemon, so that a client's connection
// starts it. Property list, units and daemon agree on these names.
const (
	// ActivationTCP is the name of the API's TCP socket, on APIPort.
	ActivationTCP = "api"
	// ActivationUnix is the name of the Unix socket.
	ActivationUnix = "unix"
	// LaunchdSocket is where launchd makes the Unix socket: beside RuntimeFolder, which is gone after
	// each start of the Mac and which launchd does not make. The daemon links SocketFile in
	// RuntimeFolder to it.
	LaunchdSocket = "/var/run/fulmen.sock"
)

// InstallPlan is what has the system start the daemon: what `fulmend install` prints.
type InstallPlan struct {
	// Files are written first.
	Files []InstallFile `json:"files"`
	// Commands are run then, in this order.
	Commands []string `json:"commands"`
}

// InstallFile is a file of launchd or systemd.
type InstallFile struct {
	// Path is where.
	Path string `json:"path"`
	// IsCurrent says that it was there already, as it is to be.
	IsCurrent bool `json:"current"`
}

// UninstallPlan is what Fulmen has left on a machine, and what becomes of it: what
// `fulmend uninstall` prints.
type UninstallPlan struct {
	// Items are in the order in which they go.
	Items []UninstallItem `json:"items"`
}

// UninstallResult is what an uninstallation has done.
type UninstallResult struct {
	// Removed are the items that are gone.
	Removed []UninstallItem `json:"removed"`
	// Stayed are those that are there.
	Stayed []UninstallItem `json:"stayed"`
	// Failed could not be removed; the same again tries it again.
	Failed []UninstallFailure `json:"failed,omitempty"`
}

// UninstallItem is something that Fulmen has left on the machine.
type UninstallItem struct {
	// Kind is what it is: service, runtime, logs, configuration, state, output, undo or programs.
	Kind string `json:"kind"`
	// Path is where.
	Path string `json:"path"`
	// Bytes is how much it takes, links not followed.
	Bytes int64 `json:"bytes"`
	// Jobs counts the jobs whose output it is.
	Jobs int `json:"jobs,omitempty"`
	// Stays is why it stays, as one sentence; empty where it goes.
	Stays string `json:"stays,omitempty"`
}

// UninstallFailure is something that could not be removed.
type UninstallFailure struct {
	// Path is what.
	Path string `json:"path"`
	// Message is why.
	Message string `json:"message"`
}

// What an item of an uninstallation can be, in the order in which they go.
const (
	// UninstallService is what has the system start the daemon.
	UninstallService = "service"
	// UninstallRuntime is sockets and marks, which mean nothing after a restart.
	UninstallRuntime = "runtime"
	// UninstallLogs are the daemon's.
	UninstallLogs = "logs"
	// UninstallConfiguration is the configuration.
	UninstallConfiguration = "configuration"
	// UninstallState is the node's key, and what it knows and has measured.
	UninstallState = "state"
	// UninstallOutput is what jobs have printed.
	UninstallOutput = "output"
	// UninstallUndo is the record of what was changed for RDMA.
	UninstallUndo = "undo"
	// UninstallPrograms are the programs, or the app.
	UninstallPrograms = "programs"
)
