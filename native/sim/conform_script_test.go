package sim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// bubbleClock is the time of a synctest bubble, in which a restart takes none.
type bubbleClock struct{ booted time.Time }

func (c bubbleClock) Now() time.Time      { return time.Now() }
func (c bubbleClock) Boot() time.Duration { return time.Since(c.booted) + time.Hour }
func (c bubbleClock) Recheck()            {}
func (c bubbleClock) AfterFunc(d time.Duration, f func()) native.Timer {
	return time.AfterFunc(d, f)
}

// worldStage is a world as a stage.
type worldStage struct{ *sim.World }

func (s worldStage) Do(op scenario.Op) error { return s.Apply(op) }

// TestConformanceScripts plays every script: nothing is too much for a simulated
// Mac.
func TestConformanceScripts(t *testing.T) {
	skipped := nativetest.RunScripts(t, func(t *testing.T, s nativetest.Script) {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			world, err := sim.New(s.Cluster, bubbleClock{time.Now()})
			is.NoErr(err)
			defer func() { is.NoErr(world.Close()) }()
			s.Run(t, worldStage{world})
		})
	})
	is.New(t).Equal(skipped, nil)
}
