package profile

import (
	"context"
	"io"
	"slices"
	"time"

	"fulmen/daemon/api"
)

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
	r.touch()
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

// touch tells the watchers that the state has changed.
func (r *run) touch() {
	r.version++
	close(r.changed)
	r.changed = make(chan struct{})
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

// watch begins to follow; the caller holds mu.
func (p *Profiler) watch(r *run) *Watch {
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
