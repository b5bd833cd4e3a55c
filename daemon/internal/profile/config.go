package profile

import (
	"context"
	"log/slog"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

// Conditions is where a measurement tells what is wrong with this node.
type Conditions interface {
	// Raise says that a condition holds; the detail says what is particular.
	Raise(code api.Reason, subject, detail string) error
	// Clear says that it holds no longer.
	Clear(code api.Reason, subject string) error
}

// Launcher runs a worker to its end. [proc.Run] on the node's clock is one.
type Launcher func(ctx context.Context, c proc.Command) proc.Record

// Circumstances tells under which conditions this node is now, and why it
// cannot tell the rest, by the fields' names in JSON. MLX and BLAS are the
// worker's to tell.
type Circumstances func(ctx context.Context) (api.MeasureConditions, map[string]api.Reason)

// Config is what a [Profiler] needs. Readers return at once and do not call back.
type Config struct {
	// Node is this node.
	Node api.NodeID
	// Clock is the node's.
	Clock native.Clock
	// Documents and Conditions publish.
	Documents  ledger.Publisher
	Conditions Conditions
	// Circumstances may be nil: then they are unknown.
	Circumstances Circumstances
	// Resolve finds the node that a person means; it may be nil, and then only
	// this node, by its id or by nothing, is found.
	Resolve func(api.NodeRef) (api.NodeID, error)
	// Turn has a measurement wait until the node is free for it; nil = it always is.
	Turn Turn
	// Launch runs workers; proc.Run where nil.
	Launch Launcher
	// Worker is the path of fulmen-rank, Env its whole environment.
	Worker string
	Env    []string
	// Device is "gpu" or "cpu"; empty leaves the choice to MLX.
	Device string
	// Duration is about how long to measure; DefaultDuration where zero.
	Duration time.Duration
	// Silence is as in proc.Command.
	Silence time.Duration
	// Last is the profile from before the daemon started, if there is one, and
	// LastPaths are those of paths, by name.
	Last      *api.GPUProfile
	LastPaths map[string]api.LinkProfile
	// Log may be nil.
	Log *slog.Logger

	// Peers may be nil: then only this node's subjects can be measured.
	Peers peer.Caller
	// Reached lists the nodes in sight; this one alone where nil.
	Reached func() []api.NodeID
	// Paths lists the ways that this node measures, as they are now; nil = none.
	Paths func() []Path
	// Subjects finds the paths that a person means; nil = none.
	Subjects func(api.MeasureLinkParams) ([]api.Key, error)
	// Probe measures a path over sockets.
	Probe Probe
	// ProbeRDMA tests a cable over RDMA; nil where that cannot be.
	ProbeRDMA ProbeRDMA
	// Scenario, where set, gives what a simulation records in place of measuring.
	Scenario Scenario
	// Wanted reports whether somebody watches this node's documents of a kind;
	// nobody does where it is nil.
	Wanted func(api.Kind) bool
	// Obstacle says why nothing should be measured on this node now; nil = nothing
	// speaks against it. It may be nil, and may take a moment.
	Obstacle func(context.Context) *api.Error
	// System tells which system and which MLX there are now; empty where not known.
	System func() (osBuild, mlx string)
	// TTL tells how old results may be; the defaults where nil.
	TTL func() (gpu, socket time.Duration)
	// Name is what people call a node; its id where nil.
	Name func(api.NodeID) string
}

const (
	// DefaultDuration is about how long a GPU is measured.
	DefaultDuration = 10 * time.Second
	// Kept is how long a measurement that has ended can be looked up.
	Kept = time.Hour
	// maxKept is how many of those there are at most.
	maxKept = 100
	// startUp is what a worker may take beside measuring: loading MLX and
	// compiling kernels the first time, on a busy machine.
	startUp = 2 * time.Minute
	// turnWithin is how long something that somebody asked for waits in all for its
	// turn; what is measured unasked waits as long as it is wanted.
	turnWithin = 10 * time.Minute
)

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	if c.Duration <= 0 {
		c.Duration = DefaultDuration
	}
	if c.Launch == nil {
		clock := c.Clock
		c.Launch = func(ctx context.Context, command proc.Command) proc.Record { return proc.Run(ctx, clock, command) }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Paths == nil {
		c.Paths = func() []Path { return nil }
	}
	if c.Wanted == nil {
		c.Wanted = func(api.Kind) bool { return false }
	}
	if c.Obstacle == nil {
		c.Obstacle = func(context.Context) *api.Error { return nil }
	}
	if c.System == nil {
		c.System = func() (string, string) { return "", "" }
	}
	if c.TTL == nil {
		c.TTL = func() (gpu, socket time.Duration) { return api.DefaultGPUTTL, api.DefaultSocketTTL }
	}
	if c.Reached == nil {
		c.Reached = func() []api.NodeID { return []api.NodeID{c.Node} }
	}
	if c.Name == nil {
		c.Name = api.NodeID.Display
	}
	return c
}
