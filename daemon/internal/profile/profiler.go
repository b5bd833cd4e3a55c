package profile

import (
	"context"
	"log/slog"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/proc"
)

// Profiler measures this node's GPU. It may be used by several goroutines.
type Profiler struct {
	cfg  Config
	stop context.CancelCauseFunc // ends every run
	base context.Context
	runs sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	last    api.GPUProfile // the value of the document
	running *run           // nil while nothing is measured
	all     []*run         // in the order of their start
}

// New makes a profiler, which measures nothing by itself.
func New(cfg Config) *Profiler {
	if cfg.Duration <= 0 {
		cfg.Duration = DefaultDuration
	}
	if cfg.Launch == nil {
		cfg.Launch = func(ctx context.Context, c proc.Command) proc.Record { return proc.Run(ctx, cfg.Clock, c) }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Profiler{cfg: cfg}
	if cfg.Last != nil {
		p.last = *cfg.Last
	}
	p.base, p.stop = context.WithCancelCause(context.Background())
	return p
}

// Close ends a measurement that runs and waits until its worker is gone, which
// takes a few seconds at most. Nothing is measured after it.
func (p *Profiler) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop(api.NewError(api.ReasonStopping, ""))
	p.runs.Wait()
}

// now is the wall-clock time, for people.
func (p *Profiler) now() api.Time { return api.TimeOf(p.cfg.Clock.Now()) }
