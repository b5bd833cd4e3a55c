package api

import "time"

// Defaults of the configuration. Durations run on a clock that counts sleep,
// never on the wall clock.
const (
	// DefaultLease is how long a group of ranks lives without being renewed.
	DefaultLease = 30 * time.Second
	// DefaultLeaseRenewal is how often the home renews it.
	DefaultLeaseRenewal = 5 * time.Second
	// DefaultBeat is how often the nodes of a job tell each other that they are alive.
	DefaultBeat = 500 * time.Millisecond
	// DefaultBeatLost is how long such a node may be silent until it counts as lost.
	DefaultBeatLost = 2 * time.Second
	// DefaultHandshake bounds the time until all ranks have joined.
	DefaultHandshake = 60 * time.Second
	// DefaultPreparing bounds what comes before a job's programs are started: the copy of its folder, the command
	// that prepares its nodes, and the wait of each for the others.
	DefaultPreparing = 30 * time.Minute
	// DefaultFetching is the same of a job whose model may have to be copied first.
	DefaultFetching = 24 * time.Hour
	// DefaultStarting bounds spawning, from when all is prepared.
	DefaultStarting = 60 * time.Second
	// DefaultGrace is what ranks get between SIGTERM and SIGKILL when a person stops a job.
	DefaultGrace = 10 * time.Second
	// DefaultFailedGrace is the same for the rest of a group of which a rank failed.
	DefaultFailedGrace = 2 * time.Second
	// DefaultEndpointWait is how long a request waits for a service that is starting.
	DefaultEndpointWait = 30 * time.Second
	// DefaultDrain is what the daemon gets to end in order.
	DefaultDrain = 5 * time.Second
	// DefaultPreflight bounds the check of all nodes before anything starts. A Python
	// that imports MLX for the first time takes seconds.
	DefaultPreflight = 10 * time.Second
	// DefaultGPUWait bounds the wait of a job for other programs that use the GPU.
	DefaultGPUWait = 2 * time.Minute
	// DefaultGPUTTL is how old a GPU's measurement may be when somebody looks.
	DefaultGPUTTL = time.Hour
	// DefaultSocketTTL is the same for a path over sockets.
	DefaultSocketTTL = 5 * time.Minute
	// DefaultRDMATTL is the age from which RDMA's numbers are shown as old; they are not measured by themselves.
	DefaultRDMATTL = 6 * time.Hour
)

// Fixed times, the same for everybody.
const (
	// LeaseSafety times the lease, plus the grace, after the last renewal is when ranks out of sight count as ended.
	LeaseSafety = 1.05
	// TombstoneTTL is how long a deleted document is kept; a node away longer drops foreign documents first.
	TombstoneTTL = 30 * 24 * time.Hour
	// SpecLifetime is how long something may be started by a job's spec, from when it was submitted.
	SpecLifetime = 30 * 24 * time.Hour
	// ClockTolerance is how far the clocks of two Macs may differ where a spec's times are checked.
	ClockTolerance = 10 * time.Minute
	// CodeTTL is how long a pairing code counts.
	CodeTTL = 5 * time.Minute
	// BrowserSecretTTL is how long the one-time secret of the dashboard counts.
	BrowserSecretTTL = 30 * time.Second
	// WriteDeadline is what a client gets to read a message before it is disconnected.
	WriteDeadline = 10 * time.Second
	// PairingDeadline bounds an unpaired peer's exchange.
	PairingDeadline = 5 * time.Second
	// AuditTTL is how long an entry of the audit is kept after its last call.
	AuditTTL = 30 * 24 * time.Hour
	// AuditRepeat is how soon after an entry's last call the same call is one more of it.
	AuditRepeat = time.Minute
)

// Seconds is the duration of a number of seconds, as the API has them.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
