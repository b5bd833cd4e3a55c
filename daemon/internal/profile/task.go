package profile

import (
	"context"

	"fulmen/daemon/api"
)

// task is one subject being measured, for all runs that want it. All of it but its
// contexts is guarded by the profiler's mu.
type task struct {
	key api.Key
	// id is the holder of its grants, and how its peer and other nodes know it.
	id   api.MeasureID
	item api.MeasureItem
	// runs are those that want it, with its place in each.
	runs map[*run]int
	// by is who asked; isAsked says that somebody did, and isForeign that it was
	// somebody of another node.
	by                 api.Principal
	isAsked, isForeign bool
	// isFull asks for the long measurement.
	isFull bool
	// maxAgeS is what another node may answer with.
	maxAgeS float64
	ctx     context.Context
	cancel  context.CancelCauseFunc
	done    chan struct{}
}

// order is what somebody wants measured.
type order struct {
	id       api.MeasureID
	by       api.Principal
	asked    bool
	foreign  bool
	full     bool
	maxAgeS  float64
	keys     []api.Key
	areFresh []bool // by key: there is a result that will do
}

// begin starts a run, whose subjects join what is being measured already. The
// caller holds mu.
func (p *Profiler) begin(o order) *run {
	p.forget()
	r := &run{changed: make(chan struct{}), asked: o.asked, state: api.Measurement{ID: o.id, By: o.by, StartedAt: p.now()}}
	for i, key := range o.keys {
		item := api.MeasureItem{Document: key, State: api.MeasureRunning}
		if o.areFresh != nil && o.areFresh[i] {
			item.State = api.MeasureDone
		}
		r.state.Items = append(r.state.Items, item)
	}
	if r.state.State = sumUp(r.state.Items); r.over() {
		r.ended = p.cfg.Clock.Boot()
	}
	p.all = append(p.all, r)
	for i, key := range o.keys {
		if isOver(r.state.Items[i].State) {
			continue
		}
		t := p.tasks[key]
		if t == nil {
			t = p.start(o, key)
		}
		t.isAsked = t.isAsked || o.asked
		t.runs[r] = i
		r.state.Items[i] = t.item
	}
	r.state.State = sumUp(r.state.Items)
	return r
}

// start begins a task; the caller holds mu.
func (p *Profiler) start(o order, key api.Key) *task {
	t := &task{
		key: key, id: o.id, item: api.MeasureItem{Document: key, State: api.MeasureRunning}, runs: map[*run]int{},
		by: o.by, isAsked: o.asked, isForeign: o.foreign, isFull: o.full || o.asked, maxAgeS: o.maxAgeS, done: make(chan struct{}),
	}
	if len(o.keys) > 1 {
		t.id = api.NewMeasureID() // grants have one holder each
	}
	t.ctx, t.cancel = context.WithCancelCause(p.base)
	p.tasks[key] = t
	p.runs.Go(func() {
		fault := p.perform(t)
		p.end(t, fault)
	})
	return t
}

// change changes the state of a task, and of the runs that want it.
func (p *Profiler) change(t *task, f func(*api.MeasureItem)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := t.item
	f(&t.item)
	if t.item == before {
		return
	}
	for r, i := range t.runs {
		r.set(i, t.item, p.cfg.Clock.Boot())
	}
}

// progress says how far a task is. It never goes back.
func (p *Profiler) progress(t *task, step string, ratio float64) {
	p.change(t, func(item *api.MeasureItem) {
		if item.DoneRatio != nil {
			ratio = max(ratio, *item.DoneRatio)
		}
		item.Step, item.DoneRatio = step, &ratio
	})
}

// end is the last change of a task. The document and the conditions are published
// by now, so whoever sees the end sees them too; and whoever asks again at the end
// begins anew.
func (p *Profiler) end(t *task, fault *api.Error) {
	p.mu.Lock()
	item := t.item
	item.State, item.Error, item.Step, item.WaitingFor = api.MeasureDone, fault, "", ""
	switch {
	case fault == nil:
		one := 1.0
		item.DoneRatio = &one
	case fault.Data.Reason == api.ReasonCancelled || fault.Data.Reason == api.ReasonStopping || !t.isAsked && isObstacle(fault.Data.Reason):
		item.State = api.MeasureCancelled
	default:
		item.State = api.MeasureFailed
	}
	t.item = item
	if t.key.Node == p.cfg.Node {
		p.counts[Count{t.key.Kind, t.isAsked, item.State}]++
	}
	delete(p.tasks, t.key)
	for r, i := range t.runs {
		r.set(i, item, p.cfg.Clock.Boot())
	}
	t.cancel(nil)
	close(t.done)
	p.mu.Unlock()
	p.Recheck()
}

// abandon takes a run out of what it wanted; a task that nobody wants any more is
// cancelled, and the run ends with it. The caller holds mu.
func (p *Profiler) abandon(r *run, why *api.Error) {
	if r.over() {
		return
	}
	r.why = why
	for _, t := range p.tasks {
		i, wanted := t.runs[r]
		switch {
		case !wanted:
		case len(t.runs) == 1:
			t.cancel(why)
		default:
			delete(t.runs, r)
			item := t.item
			item.State, item.Error, item.Step, item.WaitingFor = api.MeasureCancelled, why, "", ""
			r.set(i, item, p.cfg.Clock.Boot())
		}
	}
}

// causeOf is why a task's context ended, or else the error.
func (t *task) causeOf(err error) *api.Error {
	if t.ctx.Err() != nil {
		return api.AsError(context.Cause(t.ctx))
	}
	return api.AsError(err)
}
