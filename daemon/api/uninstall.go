package api

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
