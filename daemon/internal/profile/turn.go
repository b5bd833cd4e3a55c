package profile

import (
	"context"
	"errors"

	"fulmen/daemon/api"
)

// Turn stands in line for what a measurement needs of the node, until it has it
// or ctx ends; waiting is told on whom it waits, when that changes. What it gives
// is called when the measurement has ended. Errors are *api.Error.
type Turn func(ctx context.Context, id api.MeasureID, waiting func(on string)) (release func(), err error)

// await waits for the measurement's turn. Without a line it is at once.
func (p *Profiler) await(r *run) (release func(), fault *api.Error) {
	if p.cfg.Turn == nil {
		return func() {}, nil
	}
	release, err := p.cfg.Turn(r.ctx, r.state.ID, func(on string) { p.wait(r, api.MeasureWaiting, on) })
	if err != nil {
		if why, ok := errors.AsType[*api.Error](context.Cause(r.ctx)); ok {
			return nil, why
		}
		return nil, api.AsError(err)
	}
	p.wait(r, api.MeasureRunning, "")
	return release, nil
}

// wait says whether the measurement waits, and on whom.
func (p *Profiler) wait(r *run, state api.MeasureState, on string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if item := r.item(); item.State != state || item.WaitingFor != on {
		r.state.State, item.State, item.WaitingFor = state, state, on
		r.touch()
	}
}
