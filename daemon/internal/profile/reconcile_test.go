package profile

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestNothingIsMeasuredForNobody(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		d.set(func() { d.paths = []Path{cable(1), cable(2)} })
		d.wait(24 * time.Hour)
		paths, gpus := d.took()
		is.Equal(len(paths)+gpus, 0)
		is.Equal(len(d.Counts()), 0)
		list, err := d.List(d.t.Context(), api.Empty{})
		is.NoErr(err)
		is.Equal(len(list.Measurements), 0)
	})
}

func TestFreshWhileWatched(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		wifi := cable(3)
		wifi.IsUnasked = false
		d.set(func() { d.paths = []Path{cable(1), cable(2), wifi} })
		d.watch(api.KindLinkProfile)
		d.wait(time.Minute)
		paths, gpus := d.took()
		is.Equal(gpus, 0) // nobody looks at it
		is.Equal(len(paths), 2)
		is.True(paths[0].full && paths[1].full && paths[0].name != paths[1].name)
		is.True(paths[1].at-paths[0].at >= 2*time.Second) // one after the other
		is.Equal(*d.profile(cable(1)).UpBitsPerS, int64(50e9))
		is.Equal(d.profile(cable(1)).Streams, 4)
		is.True(d.profile(wifi).MeasuredAt.IsZero())

		d.watch(api.KindLinkProfile, api.KindGPUProfile)
		d.wait(59 * time.Minute)
		paths, gpus = d.took()
		is.Equal(gpus, 1)
		is.True(len(paths) >= 22 && len(paths) <= 24)
		is.True(!slices.ContainsFunc(paths, func(p probed) bool { return p.full })) // short ones
		d.watch()
		d.wait(24 * time.Hour)
		paths, gpus = d.took()
		is.Equal(len(paths)+gpus, 0)
		d.watch(api.KindLinkProfile) // somebody comes back: what is old is made anew at once
		d.wait(10 * time.Second)
		paths, _ = d.took()
		is.Equal(len(paths), 2)
		is.Equal(d.Counts()[Count{Kind: api.KindGPUProfile, State: api.MeasureDone}], uint64(1))
	})
}

func TestWaitsAndSaysWhy(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		d.set(func() {
			d.paths = []Path{cable(1)}
			d.obstacle = api.Errorf(api.ReasonOnBattery, "", "studio runs on its battery.")
		})
		d.watch(api.KindLinkProfile, api.KindGPUProfile)
		d.wait(time.Hour)
		paths, gpus := d.took()
		is.Equal(len(paths)+gpus, 0)
		is.Equal(d.profile(cable(1)).Waiting.Reason, api.ReasonOnBattery)
		is.Equal(d.profile(cable(1)).Waiting.Message, "studio runs on its battery.")
		is.Equal(d.doc().Waiting.Reason, api.ReasonOnBattery)
		is.Equal(d.doc().Failure, nil)
		is.Equal(len(d.docs), 1) // it is said once
		d.watch(api.KindGPUProfile)
		is.Equal(d.profile(cable(1)).Waiting, nil) // nobody waits for it any more
		d.mu.Lock()
		d.obstacle = nil // which nothing announces
		d.mu.Unlock()
		d.wait(20 * time.Second)
		_, gpus = d.took()
		is.Equal(gpus, 1)
		is.Equal(d.doc().Waiting, nil)
	})
}

// A path that goes while it waits, waits no longer, and what was never measured of
// it is no row.
func TestPathsThatGoWhileTheyWait(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		d.set(func() { d.paths = []Path{cable(1)} })
		d.watch(api.KindLinkProfile)
		d.wait(10 * time.Second)
		is.True(!d.profile(cable(1)).MeasuredAt.IsZero())
		d.set(func() {
			d.paths = []Path{cable(1), cable(2)}
			d.obstacle = api.Errorf(api.ReasonOnBattery, "", "studio runs on its battery.")
		})
		d.wait(time.Hour)
		is.True(d.profile(cable(1)).Waiting != nil)
		is.True(d.profile(cable(2)).Waiting != nil)
		d.set(func() { d.paths = nil })
		is.Equal(d.profile(cable(1)).Waiting, nil)
		is.True(!d.profile(cable(1)).MeasuredAt.IsZero()) // its history is of use when it comes back
		d.rig.mu.Lock()
		defer d.rig.mu.Unlock()
		_, isThere := d.rig.paths[cable(2).Name()]
		is.True(!isThere)
	})
}

func TestBacksOffOnFailure(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		name := cable(1).Name()
		d.set(func() {
			d.paths = []Path{cable(1), cable(2)}
			d.fault[name] = api.Errorf(api.ReasonPeerStalled, "", "book stopped in the middle.")
		})
		d.watch(api.KindLinkProfile)
		d.wait(4 * time.Minute)
		paths, _ := d.took()
		var at []time.Duration
		for _, p := range paths {
			if p.name == name {
				at = append(at, p.at)
			}
		}
		is.Equal(len(at), 5) // after 15, 30, 60 and 120 s
		for i := 2; i < len(at); i++ {
			is.True(at[i]-at[i-1] >= 2*(at[i-1]-at[i-2])-5*time.Second)
		}
		is.Equal(len(paths), 6) // the other path is none the worse
		failure := d.profile(cable(1)).Failure
		is.Equal(failure.Reason, api.ReasonPeerStalled)
		is.Equal(failure.Retries, 5)
		is.Equal(failure.Message, "book stopped in the middle.")

		// A restart, and a clock that jumps, change nothing about that.
		cfg := alone()
		cfg.Clock, cfg.Documents, cfg.Conditions, cfg.LastPaths, cfg.Probe = d.cfg.Clock, d.rig, d.rig, d.rig.paths, d.probe
		cfg.Paths, cfg.Wanted = d.cfg.Paths, d.cfg.Wanted
		again := New(cfg)
		defer again.Close()
		is.True(!isDue(again, name))
		d.wait(6 * time.Minute) // the next try fails too
		d.took()
		d.set(func() { delete(d.fault, name) })
		d.wait(10 * time.Minute)
		is.Equal(d.profile(cable(1)).Failure, nil)
		is.True(d.profile(cable(1)).UpBitsPerS != nil)
	})
}

// isDue reports whether a profiler would measure a path now.
func isDue(p *Profiler, name string) bool {
	for _, s := range p.subjects(p.cfg.Paths()) {
		if s.key.Name == name {
			return verdict(s).IsDue
		}
	}
	return false
}

// A peer that is at work is no failure of the path: others go first, and it is
// tried again.
func TestBusyPeer(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		busy := api.NewError(api.ReasonJobHasNode, "")
		busy.Data.WaitingFor = "job j4k2m9xq7 of bob on book"
		d.set(func() {
			d.paths = []Path{cable(1), cable(2)}
			d.fault[cable(1).Name()] = busy
		})
		d.watch(api.KindLinkProfile)
		d.wait(time.Minute)
		is.True(d.profile(cable(2)).UpBitsPerS != nil)
		is.Equal(d.profile(cable(1)).Failure, nil)
		is.Equal(d.profile(cable(1)).Waiting.Message, "job j4k2m9xq7 of bob on book")
		paths, _ := d.took()
		is.True(len(paths) >= 4 && len(paths) <= 6)

		// Somebody who asks waits for it, and is told for whom.
		w, err := d.MeasureLink(d.t.Context(), caller("ada"), api.MeasureLinkParams{})
		is.NoErr(err)
		d.wait(11500 * time.Millisecond) // between two tries
		m, err := d.Get(d.t.Context(), api.MeasureSelect{Measurement: w.Measurement.ID})
		is.NoErr(err)
		is.Equal(m.Items[0].WaitingFor, "job j4k2m9xq7 of bob on book")
		d.set(func() { delete(d.fault, cable(1).Name()) })
		is.Equal(last(d.t, w).State, api.MeasureDone)
		is.Equal(d.profile(cable(1)).Waiting, nil)
	}, func(d *scenario, c *Config) {
		c.Subjects = func(api.MeasureLinkParams) ([]api.Key, error) {
			return []api.Key{{Node: testNode, Kind: api.KindLinkProfile, Name: cable(1).Name()}}, nil
		}
	})
}

// What was measured and has become another is measured again, whether anybody
// looks or not.
func TestChangesAreMeasured(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		d.set(func() { d.paths, d.build = []Path{cable(1)}, "25C56" })
		d.watch(api.KindLinkProfile, api.KindGPUProfile)
		d.wait(time.Minute)
		d.watch()
		d.took()
		full := func(what string) {
			d.t.Helper()
			d.wait(10 * time.Second)
			paths, _ := d.took()
			if len(paths) != 1 || !paths[0].full {
				d.t.Fatalf("%s: measured %v", what, paths)
			}
		}
		slow := cable(1)
		slow.Negotiated = &api.ThunderboltSpeed{TxBitsPerS: 40e9, RxBitsPerS: 40e9}
		d.set(func() { d.paths = []Path{slow} })
		full("another speed")
		is.Equal(len(d.profile(slow).History), 0) // of another cable
		moved := slow
		moved.Interface = "en7"
		d.set(func() { d.paths = []Path{moved} })
		full("another interface")
		d.set(func() { d.paths = nil })
		d.set(func() { d.paths = []Path{moved} })
		full("pulled and plugged again")
		is.Equal(len(d.profile(moved).History), 1)
		d.set(func() { d.paths = []Path{moved} })
		d.wait(time.Hour)
		paths, gpus := d.took()
		is.Equal(len(paths)+gpus, 0)
		d.change(func(now *api.MeasureConditions) { now.OSBuild = "25D1" })
		d.set(func() { d.build = "25D1" })
		d.wait(time.Minute)
		_, gpus = d.took()
		is.Equal(gpus, 1)
		is.Equal(d.doc().Conditions.OSBuild, "25D1")
	})
}

// The wall clock is for people: what was measured in this run of the daemon is as
// old as it is.
func TestClockJumps(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		d.set(func() { d.paths = []Path{cable(1)} })
		d.watch(api.KindLinkProfile)
		d.wait(time.Minute)
		d.took()
		for _, jump := range []time.Duration{48 * time.Hour, -96 * time.Hour} {
			d.set(func() { d.step += jump })
			d.wait(time.Minute)
			paths, _ := d.took()
			is.Equal(len(paths), 0)
		}
	})
}

func TestWorseCable(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		d.set(func() { d.paths = []Path{cable(1)} })
		d.watch(api.KindLinkProfile)
		d.wait(20 * time.Minute)
		d.took()
		d.set(func() { d.reading.UpBitsPerS = new(int64(31e9)) })
		d.wait(6 * time.Minute)
		is.Equal(len(d.codes()), 0) // twice may be chance
		d.wait(5 * time.Minute)
		is.Equal(d.codes(), []api.Reason{api.ReasonLinkBelowHistory})
		paths, _ := d.took()
		is.True(!paths[0].full && paths[1].full && !paths[2].full) // whether it was chance is seen with a long one
		detail := d.holds[api.ReasonLinkBelowHistory]
		is.True(strings.Contains(detail, "studio:1 and book:1: 31 Gb/s to book where it gave 50"))

		muted := cable(1)
		muted.IsMuted = true
		d.set(func() { d.paths = []Path{muted} })
		is.Equal(len(d.codes()), 0)
		d.set(func() { d.paths = []Path{cable(1)} })
		is.Equal(len(d.codes()), 1)
		d.set(func() { d.reading.UpBitsPerS = new(int64(50e9)) })
		d.wait(6 * time.Minute)
		is.Equal(len(d.codes()), 0)
	})
}

// Work goes first: what is measured unasked ends, and is measured later.
func TestPreempted(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		d.set(func() { d.paths = []Path{cable(1)} })
		d.watch(api.KindLinkProfile)
		d.wait(time.Second)
		needed := api.NewError(api.ReasonJobHasNode, "")
		needed.Data.WaitingFor = "job j4k2m9xq7 of bob"
		d.held(needed)
		d.wait(time.Millisecond)
		is.Equal(d.profile(cable(1)).Failure, nil)
		is.Equal(d.profile(cable(1)).Waiting.Message, "job j4k2m9xq7 of bob")
		d.wait(time.Minute)
		is.True(d.profile(cable(1)).UpBitsPerS != nil)
		is.Equal(d.profile(cable(1)).Waiting, nil)
		list, err := d.List(d.t.Context(), api.Empty{})
		is.NoErr(err)
		is.Equal(list.Measurements[len(list.Measurements)-1].State, api.MeasureCancelled)
	}, withTurn)
}

// What is not among the paths is gone, unless the documents have it since the graph was drawn.
func TestGonePath(t *testing.T) {
	var looked []Path
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		w, err := d.MeasureLink(d.t.Context(), caller("ada"), api.MeasureLinkParams{})
		is.NoErr(err)
		m := last(d.t, w)
		is.Equal(m.State, api.MeasureFailed)
		is.True(errors.Is(m.Items[0].Error, api.ReasonLinkGone))
		looked = []Path{cable(1)}
		w, err = d.MeasureLink(d.t.Context(), caller("ada"), api.MeasureLinkParams{})
		is.NoErr(err)
		is.Equal(last(d.t, w).State, api.MeasureDone)
	}, func(d *scenario, c *Config) {
		c.Look = func() { d.set(func() { d.paths = looked }) }
		c.Subjects = func(api.MeasureLinkParams) ([]api.Key, error) {
			return []api.Key{{Node: testNode, Kind: api.KindLinkProfile, Name: cable(1).Name()}}, nil
		}
	})
}

// What is no more is forgotten, of too many the oldest.
func TestDocumentsAreBounded(t *testing.T) {
	onScenario(t, func(d *scenario) {
		is := is.New(d.t)
		d.watch(api.KindLinkProfile)
		for i := range maxPaths + 10 {
			one := cable(1)
			one.Link, one.Sink = api.LinkID{}, one.Sink.Next()
			for range i {
				one.Sink = one.Sink.Next()
			}
			d.set(func() { d.paths = []Path{one} })
			d.wait(3 * time.Second)
		}
		d.rig.mu.Lock()
		defer d.rig.mu.Unlock()
		is.True(len(d.rig.paths) <= maxPaths+1)
	})
}
