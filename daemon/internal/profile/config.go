package profile

import (
	"context"
	"log/slog"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/proc"
	"fulmen/native"
)

// Documents is where profiles are published.
type Documents interface {
	// Put publishes a document of this node. unknown tells, by field, why
	// fields of the value are absent.
	Put(kind api.Kind, name string, value any, unknown map[string]api.Reason) error
}

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

// Config is what a [Profiler] needs.
type Config struct {
	// Node is this node.
	Node api.NodeID
	// Clock is the node's.
	Clock native.Clock
	// Documents and Conditions publish.
	Documents  Documents
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
	// Last is the profile from before the daemon started, if there is one.
	Last *api.GPUProfile
	// Log may be nil.
	Log *slog.Logger
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
)
