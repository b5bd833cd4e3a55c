package gpu

import (
	"context"
	"slices"
	"time"

	"fulmen/daemon/api/worker"
)

// Plan times a thing that can be done again and again: it warms up until the speed
// settles, then takes the best of several runs.
type Plan struct {
	// MinWarmUp and MaxWarmUp bound the warm-up. A GPU takes up to a second
	// to reach its clock, and drops it again when it idles.
	MinWarmUp, MaxWarmUp time.Duration
	// Window is how many runs are compared with as many before them;
	// Tolerance is the relative change at which speed counts as settled.
	Window    int
	Tolerance float64
	// Timing ends after MaxRuns, or after MinRuns once Budget is spent.
	MinRuns, MaxRuns int
	Budget           time.Duration
}

// DefaultPlan is the plan of a measurement that takes about total.
func DefaultPlan(total time.Duration) Plan {
	return Plan{
		MinWarmUp: total / 4, MaxWarmUp: total / 2,
		Window: 3, Tolerance: 0.02,
		MinRuns: 3, MaxRuns: 200, Budget: total / 2,
	}
}

// Do warms run up and times it. now is the clock; tick hears how far it is, 0
// to 1. It ends early, with the context's error, between two runs.
func (p Plan) Do(ctx context.Context, now func() time.Time, tick func(ratio float64), run func() error) (worker.Timing, error) {
	var timing worker.Timing
	warm, err := p.warmUp(ctx, now, tick, run, &timing)
	if err != nil {
		return timing, err
	}
	var runs []time.Duration
	began := now()
	for len(runs) < p.MinRuns || (len(runs) < p.MaxRuns && now().Sub(began) < p.Budget) {
		took, err := once(ctx, now, run)
		if err != nil {
			return timing, err
		}
		runs = append(runs, took)
		spent := float64(now().Sub(began)) / float64(p.Budget)
		tick(warm + (1-warm)*min(spent, 1))
	}
	slices.Sort(runs)
	best, median := runs[0].Seconds(), middle(runs)
	timing.Runs, timing.BestS, timing.MedianS = len(runs), best, median
	if best > 0 {
		timing.SpreadRatio = (median - best) / best
	}
	return timing, nil
}

// warmUp runs until the best of the last window is within the tolerance of the
// best of the window before, and returns the share of the plan that it is.
func (p Plan) warmUp(ctx context.Context, now func() time.Time, tick func(float64), run func() error, timing *worker.Timing) (float64, error) {
	share := float64(p.MaxWarmUp) / float64(p.MaxWarmUp+p.Budget)
	var runs []time.Duration
	began := now()
	for {
		took, err := once(ctx, now, run)
		if err != nil {
			return share, err
		}
		runs = append(runs, took)
		elapsed := now().Sub(began)
		timing.WarmUpS = elapsed.Seconds()
		timing.Settled = p.settled(runs)
		tick(share * min(float64(elapsed)/float64(p.MaxWarmUp), 1))
		if (elapsed >= p.MinWarmUp && timing.Settled) || elapsed >= p.MaxWarmUp {
			return share, nil
		}
	}
}

// settled reports whether the speed no longer changes.
func (p Plan) settled(runs []time.Duration) bool {
	if len(runs) < 2*p.Window {
		return false
	}
	last := slices.Min(runs[len(runs)-p.Window:])
	before := slices.Min(runs[len(runs)-2*p.Window : len(runs)-p.Window])
	change := float64(last-before) / float64(before)
	return change <= p.Tolerance && change >= -p.Tolerance
}

// once times one run.
func once(ctx context.Context, now func() time.Time, run func() error) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	began := now()
	if err := run(); err != nil {
		return 0, err
	}
	return now().Sub(began), nil
}

// middle is the median of sorted durations, in seconds.
func middle(sorted []time.Duration) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2].Seconds()
	}
	return (sorted[n/2-1] + sorted[n/2]).Seconds() / 2
}
