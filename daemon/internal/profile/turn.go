package profile

import (
	"context"
	"time"

	"fulmen/daemon/api"
	"fulmen/native"
)

// Turn stands in line for what a measurement needs of the node, the RDMA devices of
// receptacles among it, until it has it or wait ends; waiting is told why it waits and on whom, when that changes. held
// is a context below hold that ends, with the reason as its cause, when the node is
// needed for work. release is called when the measurement has ended. Errors are
// *api.Error.
type Turn func(wait, hold context.Context, id api.MeasureID, receptacles []api.Receptacle, waiting func(why api.Reason, on string)) (held context.Context, release func(), err error)

// await waits for the task's turn. Without a line it is at once.
func (p *Profiler) await(t *task, receptacles ...api.Receptacle) (held context.Context, release func(), fault *api.Error) {
	if p.cfg.Turn == nil {
		return t.ctx, func() {}, nil
	}
	wait := t.ctx
	if p.isAsked(t) {
		within, cancel := native.WithTimeout(t.ctx, p.cfg.Clock, turnWithin, "its turn on "+p.cfg.Name(p.cfg.Node))
		defer cancel()
		wait = within
	}
	held, release, err := p.cfg.Turn(wait, t.ctx, t.id, receptacles, func(why api.Reason, on string) { p.wait(t, why, on) })
	if err != nil {
		return nil, nil, t.causeOf(err)
	}
	p.goOn(t)
	return held, release, nil
}

// wait says why a task waits, and on whom; of what was not asked for its document
// says so too.
func (p *Profiler) wait(t *task, why api.Reason, on string) {
	p.change(t, func(item *api.MeasureItem) { item.State, item.WaitingFor = api.MeasureWaiting, on })
	if !p.isAsked(t) {
		p.tellWaiting(t.key, &api.MeasureWait{Reason: why, Message: on})
	}
}

// goOn says that it waits no longer.
func (p *Profiler) goOn(t *task) {
	p.change(t, func(item *api.MeasureItem) { item.State, item.WaitingFor = api.MeasureRunning, "" })
}

func (p *Profiler) isAsked(t *task) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.isAsked
}

// passes reports whether a reason not to measure now is soon over: somebody else
// is at work.
func passes(why api.Reason) bool {
	switch why {
	case api.ReasonMeasurementRunning, api.ReasonJobHasNode, api.ReasonGPUBusy, api.ReasonGPUUsedByOtherProgram, api.ReasonLinkBusy,
		api.ReasonRDMADeviceBusy:
		return true
	}
	return false
}

// isObstacle reports whether a reason says nothing of what is measured, but that
// now is not the time.
func isObstacle(why api.Reason) bool {
	switch why {
	case api.ReasonOnBattery, api.ReasonMemoryPressure, api.ReasonThermalPressure, api.ReasonMeasureBudgetSpent, api.ReasonNotIdle:
		return true
	}
	return passes(why)
}

// retryAfter is how long after a peer said that now is not the time it is asked
// again.
const retryAfter = time.Second

// perform measures a subject from beginning to end. What was asked for begins
// again where work came in between, or the peer is not free yet.
func (p *Profiler) perform(t *task) *api.Error {
	if t.key.Node != p.cfg.Node {
		return p.follow(t)
	}
	if t.isForeign && !isCable(t.key) { // its own people decide what is worth its battery; a cable takes seconds
		if why := p.cfg.Obstacle(t.ctx); why != nil {
			return why
		}
	}
	began := p.cfg.Clock.Boot()
	for {
		fault := p.attempt(t)
		if fault == nil || t.ctx.Err() != nil || !isObstacle(fault.Data.Reason) {
			return fault
		}
		if !p.isAsked(t) {
			p.tellWaiting(t.key, &api.MeasureWait{Reason: fault.Data.Reason, Message: waitsFor(fault)})
			p.hold(t.key)
			return fault
		}
		if !passes(fault.Data.Reason) || p.cfg.Clock.Boot()-began > turnWithin {
			return fault
		}
		p.wait(t, fault.Data.Reason, waitsFor(fault))
		if !native.Pause(t.ctx, p.cfg.Clock, retryAfter) {
			return t.causeOf(t.ctx.Err())
		}
	}
}

// hold lets others go before a subject that could not be measured just now.
func (p *Profiler) hold(key api.Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[key] = p.cfg.Clock.Boot() + lookAgain - time.Second
}

// waitsFor is on whom an error waits, in words.
func waitsFor(e *api.Error) string {
	if e.Data.WaitingFor != "" {
		return e.Data.WaitingFor
	}
	return e.Message
}

// attempt measures once.
func (p *Profiler) attempt(t *task) *api.Error {
	if t.key.Kind == api.KindLinkProfile {
		return p.measurePath(t)
	}
	return p.measureGPU(t)
}
