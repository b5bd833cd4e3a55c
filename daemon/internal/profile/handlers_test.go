package profile

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
	"fulmen/daemon/internal/proc"
)

func TestCancel(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	w := r.begin(caller("ada"))
	id := api.MeasureSelect{Measurement: w.Measurement.ID}
	<-r.started
	_, err := r.Cancel(t.Context(), caller("bob"), id)
	is.True(errors.Is(err, api.ReasonAdminRequired))
	is.Equal(api.AsError(err).Code, api.CodeDenied)
	_, err = r.Cancel(t.Context(), caller("ada"), id)
	is.NoErr(err)
	m := last(t, w)
	is.Equal(m.State, api.MeasureCancelled)
	is.Equal(m.Items[0].Error.Data.Reason, api.ReasonCancelled)
	is.Equal(len(r.docs), 0) // nothing was measured, and nothing failed
	is.Equal(len(r.codes()), 0)
	_, err = r.Cancel(t.Context(), caller("ada"), id)
	is.NoErr(err) // it has ended already

	w = r.begin(Caller{}) // the daemon's own
	id.Measurement = w.Measurement.ID
	<-r.started
	_, err = r.Cancel(t.Context(), Caller{}, id)
	is.True(errors.Is(err, api.ReasonAdminRequired)) // nobody is not the daemon
	_, err = r.Cancel(t.Context(), Caller{Principal: caller("root").Principal, Admin: true}, id)
	is.NoErr(err)
	is.Equal(last(t, w).State, api.MeasureCancelled)
}

func TestClose(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	w := r.begin(caller("ada"))
	<-r.started
	r.Close()
	m := last(t, w)
	is.Equal(m.State, api.MeasureCancelled)
	is.Equal(m.Items[0].Error.Data.Reason, api.ReasonStopping)
	_, err := r.MeasureGPU(t.Context(), caller("ada"), api.MeasureGPUParams{})
	is.True(errors.Is(err, api.ReasonStopping))
}

// A client that goes away does not end what it began.
func TestCallerGone(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := r.MeasureGPU(ctx, caller("ada"), api.MeasureGPUParams{})
	is.NoErr(err)
	cancel()
	for err == nil { // what has changed meanwhile is told first
		_, _, err = w.Next(ctx)
	}
	is.True(errors.Is(err, context.Canceled))
	r.end(recordOf(t, sampleGPU()))
	is.Equal(last(t, w).State, api.MeasureDone)
}

func TestWatch(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	w := r.begin(caller("ada"))
	id := api.MeasureSelect{Measurement: w.Measurement.ID}
	c := <-r.started
	other, err := r.Watch(t.Context(), id)
	is.NoErr(err)
	for i := range 1000 { // nobody reads: nothing is kept but the latest
		c.Progress(worker.Progress{Stage: "step", DoneRatio: float64(i) / 1000})
	}
	m, _, err := other.Next(t.Context())
	is.NoErr(err)
	is.Equal(*m.Items[0].DoneRatio, 0.999)
	got, err := r.Get(t.Context(), id)
	is.NoErr(err)
	is.Equal(got.Items[0].Step, "step")
	r.ends <- recordOf(t, sampleGPU())
	is.Equal(last(t, other).State, api.MeasureDone)
	is.Equal(*m.Items[0].DoneRatio, 0.999) // what was given does not change afterwards

	late, err := r.Watch(t.Context(), id)
	is.NoErr(err)
	is.Equal(late.Measurement.State, api.MeasureDone)
	is.Equal(last(t, late).State, api.MeasureDone) // it has its one end too
}

func TestEarlierResult(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	ask := func(maxAge float64) *Watch {
		w, err := r.MeasureGPU(t.Context(), caller("bob"), api.MeasureGPUParams{MaxAgeS: maxAge, All: true})
		is.NoErr(err)
		return w
	}
	w := ask(3600)
	is.Equal(w.Measurement.State, api.MeasureRunning) // there is none yet
	r.end(recordOf(t, sampleGPU()))
	last(t, w)
	r.clock.Advance(30 * time.Second)
	w = ask(60)
	is.Equal(w.Measurement.State, api.MeasureDone)
	is.Equal(last(t, w).State, api.MeasureDone)
	is.Equal(r.count, 1) // nothing was measured for it

	measures := func(maxAge float64) {
		t.Helper()
		w := ask(maxAge)
		is.Equal(w.Measurement.State, api.MeasureRunning)
		r.end(recordOf(t, sampleGPU()))
		last(t, w)
	}
	measures(29) // too old
	measures(0)  // none is accepted
	r.change(func(now *api.MeasureConditions) { now.OSBuild = "25D1" })
	measures(3600) // another system
	r.clock.Step(-time.Minute)
	measures(3600) // a result from the future
}

func TestKept(t *testing.T) {
	is := is.New(t)
	r := newRig(t)
	w := r.begin(caller("ada"))
	r.end(recordOf(t, sampleGPU()))
	last(t, w)
	r.clock.Advance(time.Minute)
	newer := r.begin(caller("ada"))
	list, err := r.List(t.Context(), api.Empty{})
	is.NoErr(err)
	is.Equal(len(list.Measurements), 2)
	is.Equal(list.Measurements[0].ID, newer.Measurement.ID) // the newest first
	r.clock.Sleep(Kept)                                     // the hour goes by while the machine sleeps
	_, err = r.Get(t.Context(), api.MeasureSelect{Measurement: w.Measurement.ID})
	is.True(errors.Is(err, api.ReasonNoSuchMeasurement))
	_, err = r.Get(t.Context(), api.MeasureSelect{Measurement: newer.Measurement.ID})
	is.NoErr(err) // it runs
	r.end(recordOf(t, sampleGPU()))
	last(t, newer)

	for range 3 * maxKept {
		_, err := r.MeasureGPU(t.Context(), caller("ada"), api.MeasureGPUParams{MaxAgeS: 1e9})
		is.NoErr(err)
	}
	list, err = r.List(t.Context(), api.Empty{})
	is.NoErr(err)
	is.True(len(list.Measurements) <= maxKept+1)
}

func TestBadRequests(t *testing.T) {
	named := func(c *Config) {
		c.Resolve = func(api.NodeRef) (api.NodeID, error) { return testNode, nil }
	}
	tests := []struct {
		name   string
		change func(*Config)
		params api.MeasureGPUParams
		reason api.Reason
	}{
		{"a negative age", nil, api.MeasureGPUParams{MaxAgeS: -1}, api.ReasonBadValue},
		{"no age", nil, api.MeasureGPUParams{MaxAgeS: math.NaN()}, api.ReasonBadValue},
		{"nobody's name", nil, api.MeasureGPUParams{Nodes: []api.NodeRef{"gone"}}, api.ReasonNoSuchNode},
		{"this node by id", nil, api.MeasureGPUParams{Nodes: []api.NodeRef{api.NodeRef(testNode)}}, ""},
		{"this node by name", named, api.MeasureGPUParams{Nodes: []api.NodeRef{"mac-studio"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			r := newRig(t, func(c *Config) {
				if tt.change != nil {
					tt.change(c)
				}
			})
			_, err := r.MeasureGPU(t.Context(), caller("ada"), tt.params)
			if tt.reason == "" {
				is.NoErr(err)
				return
			}
			is.True(errors.Is(err, tt.reason))
			is.Equal(r.count, 0)
		})
	}
	is := is.New(t)
	r := newRig(t)
	_, err := r.Watch(t.Context(), api.MeasureSelect{Measurement: "m00000000"})
	is.True(errors.Is(err, api.ReasonNoSuchMeasurement))
	_, err = r.Cancel(t.Context(), caller("ada"), api.MeasureSelect{})
	is.True(errors.Is(err, api.ReasonNoSuchMeasurement))
}

// Who asks while a cancelled measurement still ends waits for that, and gets one
// of their own.
func TestMeasureAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		gate, launches := make(chan struct{}), 0
		var r *rig
		r = newRig(t, func(cfg *Config) {
			cfg.Launch = func(ctx context.Context, c proc.Command) proc.Record {
				if launches++; launches == 1 { // a worker that takes its time to end
					<-ctx.Done()
					<-gate
					return proc.Record{Outcome: proc.Cancelled}
				}
				return r.launch(ctx, c)
			}
		})
		first := r.begin(caller("ada"))
		_, err := r.Cancel(t.Context(), caller("ada"), api.MeasureSelect{Measurement: first.Measurement.ID})
		is.NoErr(err)
		second := make(chan *Watch, 1)
		go func() {
			w, err := r.MeasureGPU(t.Context(), caller("ada"), api.MeasureGPUParams{})
			is.NoErr(err)
			second <- w
		}()
		synctest.Wait()
		is.Equal(len(second), 0) // the first has not ended
		close(gate)
		synctest.Wait()
		is.Equal(len(second), 1)
		is.True((<-second).Measurement.ID != first.Measurement.ID)
		is.Equal(last(t, first).State, api.MeasureCancelled)
	})
}
