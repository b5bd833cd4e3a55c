package profile

import (
	"context"
	"io"
	"slices"
	"time"

	"fulmen/daemon/api"
)

// run is one measurement and who may follow it. All but its context is guarded
// by the profiler's mu.
type run struct {
	state   api.Measurement
	version int           // grows with every change of state
	changed chan struct{} // closed at the next change
	ended   time.Duration // when it ended, on the clock's Boot
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

// over reports whether it has ended.
func (r *run) over() bool {
	switch r.state.State {
	case api.MeasureDone, api.MeasureFailed, api.MeasureCancelled:
		return true
	}
	return false
}

// item is its only subject.
func (r *run) item() *api.MeasureItem { return &r.state.Items[0] }

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

// Watch follows one measurement. It is used by one goroutine.
type Watch struct {
	profiler *Profiler
	run      *run
	seen     int
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
