package profile

import (
	"cmp"
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
type Turn func(wait, hold context.Context, id api.MeasureID, portNumbers []api.PortNumber, waiting func(why api.Reason, on string)) (held context.Context, release func(), err error)

// inTurn has f measure when it is the task's turn, and gives the circumstances before
// and after. over is an end that says nothing of the subject: the task was called off,
// work came in between, or now is not the time. Work does not end what has receptacles.
func (p *Profiler) inTurn(t *task, f func(held context.Context) *api.Error, portNumbers ...api.PortNumber) (now conditions, fault, over *api.Error) {
	wait := t.ctx
	if t.isAsked.Load() {
		within, cancel := native.WithTimeout(t.ctx, p.cfg.Clock, turnWithin, "its turn on "+p.cfg.Name(p.cfg.Node))
		defer cancel()
		wait = within
	}
	held, release, err := p.cfg.Turn(wait, t.ctx, t.id, portNumbers, func(why api.Reason, on string) { p.wait(t, why, on) })
	if err != nil {
		return now, nil, t.causeOf(err)
	}
	p.change(t, func(item *api.MeasureItem) { item.State, item.WaitingFor = api.MeasureRunning, "" })
	before := p.conditions(held)
	fault = f(held)
	preempted := context.Cause(held)
	release()
	switch {
	case fault == nil:
	case t.ctx.Err() != nil:
		over = t.causeOf(fault)
	case preempted != nil && len(portNumbers) == 0:
		over = api.AsError(preempted)
	case isObstacle(fault.Data.Reason):
		over = fault
	}
	return before.with(p.conditions(context.WithoutCancel(t.ctx))), fault, over
}

// inItsTurn has f publish what the scenario records, once it is the task's turn: what
// puts a measurement off puts that off too.
func (p *Profiler) inItsTurn(t *task, f func(now conditions) *api.Error) *api.Error {
	now, _, over := p.inTurn(t, func(context.Context) *api.Error { return nil })
	if over != nil {
		return over
	}
	return f(now)
}

// wait says why a task waits, and on whom; of what was not asked for its document
// says so too.
func (p *Profiler) wait(t *task, why api.Reason, on string) {
	p.change(t, func(item *api.MeasureItem) { item.State, item.WaitingFor = api.MeasureWaiting, on })
	if !t.isAsked.Load() {
		p.notifyWaiting(t.key, &api.MeasureWait{Reason: why, Message: on})
	}
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
	measure := p.measureGPU
	if t.key.Kind == api.KindLinkProfile {
		measure = p.measurePath
	}
	began := p.cfg.Clock.Boot()
	for {
		fault := measure(t)
		if fault == nil || t.ctx.Err() != nil || !isObstacle(fault.Data.Reason) {
			return fault
		}
		if !t.isAsked.Load() {
			p.notifyWaiting(t.key, &api.MeasureWait{Reason: fault.Data.Reason, Message: cmp.Or(fault.Data.WaitingFor, fault.Message)})
			p.mu.Lock()
			p.held[t.key] = p.cfg.Clock.Boot() + lookAgain - time.Second // others go first
			p.mu.Unlock()
			return fault
		}
		if !passes(fault.Data.Reason) || p.cfg.Clock.Boot()-began > turnWithin {
			return fault
		}
		p.wait(t, fault.Data.Reason, cmp.Or(fault.Data.WaitingFor, fault.Message))
		if !native.Pause(t.ctx, p.cfg.Clock, retryAfter) {
			return t.causeOf(t.ctx.Err())
		}
	}
}

// obstacleIn is the first thing in a snapshot that speaks against measuring: the battery, too
// little memory, heat. Jobs and other programs are the arbiter's.
func obstacleIn(s native.Snapshot, name string, node api.NodeID) *api.Error {
	if s.System != nil {
		switch s.System.PowerSource {
		case native.PowerBattery, native.PowerUPS:
			return api.Errorf(api.ReasonOnBattery, string(node), "%s runs on its battery.", name).WithRemedy("Connect it to power.")
		}
		switch s.System.ThermalState {
		case native.ThermalSerious, native.ThermalCritical:
			return api.Errorf(api.ReasonThermalPressure, string(node), "%s is too hot and slows down.", name)
		}
	}
	if s.Memory != nil {
		switch s.Memory.Pressure {
		case native.PressureWarning, native.PressureCritical:
			return api.Errorf(api.ReasonMemoryPressure, string(node), "%s is short of memory.", name)
		}
	}
	return nil
}

// obstacleWithin bounds the reading of what may speak against measuring.
const obstacleWithin = 2 * time.Second

// Obstacle says why nothing should be measured on a node now; nil = nothing is known to
// speak against it. name is what people call the node.
func Obstacle(ctx context.Context, clock native.Clock, machine native.Facts, name string, node api.NodeID) *api.Error {
	ctx, cancel := native.WithTimeout(ctx, clock, obstacleWithin, "the state of this machine")
	defer cancel()
	snapshot, err := machine.Snapshot(ctx, native.AreaSystem, native.AreaMemory)
	if err != nil {
		return nil
	}
	return obstacleIn(snapshot, name, node)
}
