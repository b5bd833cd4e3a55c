package sim_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim/scenario"
)

// Every shipped scenario can be built and its whole time line be played, every
// fact on the way is honest, and both ends of each cable agree.
func TestShippedScenarios(t *testing.T) {
	for _, name := range scenario.Shipped() {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s, err := scenario.Load(name)
			is.NoErr(err)
			b := newBench(t, s)
			checkWorld(t, b)
			for _, l := range s.Measurements.Links {
				if len(b.links(l.From, l.To, l.Transport)) == 0 {
					t.Errorf("what was recorded of %s to %s over %s cannot be measured as the desk begins", l.From, l.To, l.Over)
				}
			}
			began := b.clock.Boot()
			for _, event := range s.TimeLine {
				b.clock.Advance(event.After - (b.clock.Boot() - began))
				is.NoErr(b.Apply(event.Op))
				checkWorld(t, b)
			}
			b.clock.Advance(time.Minute)
			checkWorld(t, b)
		})
	}
}

func TestShippedScenariosConform(t *testing.T) {
	for _, name := range scenario.Shipped() {
		s, err := scenario.Load(name)
		is.New(t).NoErr(err)
		t.Run(name, func(t *testing.T) {
			nativetest.Conform(t, func(t *testing.T) native.Platform {
				b := newBench(t, s)
				p, err := b.Platform(b.Macs()[len(b.Macs())-1])
				is.New(t).NoErr(err)
				return p
			})
		})
	}
}
