package api

import "encoding/json"

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

// LogLevel is how important a line of the log is.
type LogLevel string

const (
	// LogDebug is for finding faults.
	LogDebug LogLevel = "debug"
	// LogInfo is what happens.
	LogInfo LogLevel = "info"
	// LogWarn is what should not happen and was dealt with.
	LogWarn LogLevel = "warn"
	// LogError is what could not be dealt with.
	LogError LogLevel = "error"
)

// Values lists the levels, from the least.
func (LogLevel) Values() []string { return words(LogDebug, LogInfo, LogWarn, LogError) }

// Valid reports whether the level belongs to this version.
func (l LogLevel) Valid() bool { return known(l) }

// DaemonTokensResult lists tokens.
type DaemonTokensResult struct {
	// Tokens are ordered by when they were made.
	Tokens []TokenInfo `json:"tokens"`
}

// TokenInfo is a token without its secret.
type TokenInfo struct {
	// Name is what its owner called it.
	Name string `json:"name"`
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
