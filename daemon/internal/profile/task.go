package profile

import (
	"context"
	"io"
	"slices"
	"sync/atomic"
	"time"

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
	by        api.Principal
	isAsked   atomic.Bool
	isForeign bool
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

// beginLocked starts a run, whose subjects join what is being measured already.
func (p *Profiler) beginLocked(o order) *run {
	p.forget()
	r := &run{changed: make(chan struct{}), asked: o.asked, state: api.Measurement{ID: o.id, By: o.by, StartedAt: p.now()}}
	for i, key := range o.keys {
		item := api.MeasureItem{Document: key, State: api.MeasureDone}
		if o.areFresh == nil || !o.areFresh[i] {
			t := p.tasks[key]
			if t == nil {
				t = p.startLocked(o, key)
			}
			if o.asked {
				t.isAsked.Store(true)
			}
			t.runs[r] = i
			item = t.item
		}
		r.state.Items = append(r.state.Items, item)
	}
	if r.state.State = sumUp(r.state.Items); r.over() {
		r.ended = p.cfg.Clock.Boot()
	}
	p.all = append(p.all, r)
	return r
}

// startLocked begins a task.
func (p *Profiler) startLocked(o order, key api.Key) *task {
	t := &task{
		key: key, id: o.id, item: api.MeasureItem{Document: key, State: api.MeasureRunning}, runs: map[*run]int{},
		by: o.by, isForeign: o.foreign, isFull: o.full || o.asked, maxAgeS: o.maxAgeS, done: make(chan struct{}),
	}
	if len(o.keys) > 1 {
		t.id = api.NewMeasureID() // grants have one holder each
	}
	t.ctx, t.cancel = context.WithCancelCause(p.base)
	t.isAsked.Store(o.asked)
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
	case fault.Data.Reason == api.ReasonCancelled || fault.Data.Reason == api.ReasonStopping || !t.isAsked.Load() && isObstacle(fault.Data.Reason):
		item.State = api.MeasureCancelled
	default:
		item.State = api.MeasureFailed
	}
	t.item = item
	if t.key.Node == p.cfg.Node {
		p.counts[Count{t.key.Kind, t.isAsked.Load(), item.State}]++
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

// abandonLocked takes a run out of what it wanted; a task that nobody wants any more
// is cancelled, and the run ends with it.
func (p *Profiler) abandonLocked(r *run, why *api.Error) {
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

// run is one measurement of one or more subjects, and who may follow it. All of it
// is guarded by the profiler's mu.
type run struct {
	state   api.Measurement
	version uint64        // grows with every change of state
	changed chan struct{} // closed at the next change
	ended   time.Duration // when it ended, on the clock's Boot
	why     *api.Error    // why it was cancelled; nil where it was not
	asked   bool          // somebody asked for it
}

// isOver reports whether a state is an end.
func isOver(s api.MeasureState) bool {
	return s == api.MeasureDone || s == api.MeasureFailed || s == api.MeasureCancelled
}

// over reports whether it has ended.
func (r *run) over() bool { return isOver(r.state.State) }

// set takes the new state of a subject over, and tells the watchers.
func (r *run) set(i int, item api.MeasureItem, now time.Duration) {
	if r.over() || isOver(r.state.Items[i].State) {
		return
	}
	r.state.Items[i] = item
	if r.state.State = sumUp(r.state.Items); r.over() {
		r.ended = now
	}
	r.version++
	close(r.changed) // tells the watchers
	r.changed = make(chan struct{})
}

// sumUp is the state of a measurement with such subjects.
func sumUp(items []api.MeasureItem) api.MeasureState {
	has := map[api.MeasureState]bool{}
	for _, item := range items {
		has[item.State] = true
	}
	for _, s := range []api.MeasureState{api.MeasureRunning, api.MeasureWaiting, api.MeasureFailed, api.MeasureCancelled} {
		if has[s] {
			return s
		}
	}
	return api.MeasureDone
}

// copied is the state as it is now, which nobody changes any more.
func (r *run) copied() api.Measurement {
	m := r.state
	m.Items = slices.Clone(m.Items)
	return m
}

// isOf reports whether it is about the same subjects, in the same order.
func (r *run) isOf(keys []api.Key) bool {
	return slices.EqualFunc(r.state.Items, keys, func(i api.MeasureItem, k api.Key) bool { return i.Document == k })
}

// Watch follows one measurement. It is used by one goroutine.
type Watch struct {
	profiler *Profiler
	run      *run
	seen     uint64
	done     bool
	// Measurement is its state when the watch began.
	Measurement api.Measurement
}

// watchLocked begins to follow.
func (p *Profiler) watchLocked(r *run) *Watch {
	return &Watch{profiler: p, run: r, seen: r.version, Measurement: r.copied()}
}

// Next waits for a change and gives the state then; a watcher who is slow gets
// the latest and misses what lay between. Exactly one is terminal, also where
// the measurement had ended before; after it Next returns io.EOF. The error is
// otherwise that of ctx.
func (w *Watch) Next(ctx context.Context) (m api.Measurement, terminal bool, err error) {
	for !w.done {
		w.profiler.mu.Lock()
		version, over, changed := w.run.version, w.run.over(), w.run.changed
		m = w.run.copied()
		w.profiler.mu.Unlock()
		if version != w.seen || over {
			w.seen, w.done = version, over
			return m, over, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return api.Measurement{}, false, ctx.Err()
		}
	}
	return api.Measurement{}, false, io.EOF
}
