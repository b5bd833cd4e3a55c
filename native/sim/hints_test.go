package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim"
)

// Each change is heard at exactly the Macs and areas whose facts it made
// different.
func TestChangeHintsWhatItTouches(t *testing.T) {
	for _, test := range []struct {
		name   string
		before []string
		change string
		want   []string
	}{
		{"plug", nil, "plug a.tb1 b.tb2", []string{
			"a network sim.plug en1", "a rdma sim.plug rdma_en1", "a thunderbolt sim.plug receptacle 1",
			"b network sim.plug en2", "b rdma sim.plug rdma_en2", "b thunderbolt sim.plug receptacle 2"}},
		{"unplug at the other end", []string{"plug a.tb1 b.tb2"}, "unplug b.tb2", []string{
			"a network sim.unplug en1", "a rdma sim.unplug rdma_en1", "a thunderbolt sim.unplug receptacle 1",
			"b network sim.unplug en2", "b rdma sim.unplug rdma_en2", "b thunderbolt sim.unplug receptacle 2"}},
		{"retrain", []string{"plug a.tb1 b.tb2"}, "retrain b.tb2 40G", []string{
			"a thunderbolt sim.retrain receptacle 1", "b thunderbolt sim.retrain receptacle 2"}},
		{"retrain to what it is", []string{"plug a.tb1 b.tb2"}, "retrain b.tb2 80G", nil},
		{"a hub", nil, "plug hub.up a.tb1", []string{"a thunderbolt sim.plug receptacle 1"}},
		{"a hub of nobody", nil, "plug hub.1 a.tb1", nil},
		{"behind a hub", []string{"plug hub.up a.tb1", "plug hub.1 b.tb1"}, "plug hub.2 c.tb1", []string{
			"a thunderbolt sim.plug receptacle 1",
			"c network sim.plug en1", "c rdma sim.plug rdma_en1", "c thunderbolt sim.plug receptacle 1"}},
		{"RDMA off", []string{"plug a.tb1 b.tb1"}, "set a.rdma off", []string{
			"a rdma sim.set ", "b rdma sim.set rdma_en1", "b thunderbolt sim.set receptacle 1"}},
		{"RDMA off without a cable", nil, "set a.rdma off", []string{"a rdma sim.set "}},
		{"memory used", nil, "set a.memory.used 20 GB", []string{"a memory sim.set "}},
		{"pressure", nil, "set a.memory.pressure critical", []string{"a memory sim.set "}},
		{"pressure as it is", nil, "set a.memory.pressure normal", nil},
		{"heat", nil, "set a.thermal serious", []string{"a system sim.set "}},
		{"mains", nil, "set a.power battery", []string{"a system sim.set "}},
		{"charge", nil, "set a.battery 0.5", []string{"a system sim.set "}},
		{"low power", nil, "set a.low_power yes", []string{"a system sim.set "}},
		{"name", nil, "set a.name Ada's", []string{"a identity sim.set "}},
		{"system", nil, "set a.os 27.0/26A1", []string{"a identity sim.set "}},
		{"a system without RDMA", []string{"plug a.tb1 b.tb1"}, "set a.os 26.1/25B78", []string{
			"a identity sim.set ", "a rdma sim.set ", "b rdma sim.set rdma_en1", "b thunderbolt sim.set receptacle 1"}},
		{"address", []string{"plug a.tb1 b.tb1"}, "set a.en1.address 169.254.1.1/30 manual", []string{
			"a network sim.set en1", "a rdma sim.set rdma_en1"}},
		{"one end of a cable's network", []string{"plug a.tb1 b.tb1"}, "set a.en1.link down", []string{
			"a network sim.set en1", "a rdma sim.set rdma_en1", "b network sim.set en1", "b rdma sim.set rdma_en1"}},
		{"an interface goes", nil, "set a.en1.present no", []string{
			"a network sim.set en1", "a rdma sim.set rdma_en1", "a thunderbolt sim.set receptacle 1"}},
		{"a network goes", nil, "set office.link down", []string{
			"a network sim.set en0", "b network sim.set en0", "c network sim.set en0"}},
		{"a network isolates", nil, "set office.isolated yes", nil}, // no Mac can see that
		{"a source falls silent", nil, "set a.network.told no", []string{"a network sim.set "}},
		{"a change that nobody tells", []string{"set a.network.told no"}, "set a.en0.link down", nil},
		{"a source speaks again", []string{"set a.network.told no"}, "set a.network.told yes", []string{"a network sim.set "}},
		{"sleep", []string{"plug a.tb1 b.tb1"}, "sleep a", []string{
			"b network sim.sleep en1", "b rdma sim.sleep rdma_en1", "b thunderbolt sim.sleep receptacle 1"}},
		{"wake", []string{"plug a.tb1 b.tb1", "sleep a"}, "wake a", []string{
			"a network sim.wake ", "a rdma sim.wake rdma_en1", "a thunderbolt sim.wake receptacle 1",
			"b network sim.wake en1", "b rdma sim.wake rdma_en1", "b thunderbolt sim.wake receptacle 1"}},
		{"told on waking", []string{"sleep a", "set a.name Ada's", "set a.thermal fair"}, "wake a", []string{
			"a identity sim.set ", "a network sim.wake en0", "a system sim.set "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			b := newBench(t, cluster(3))
			b.do(test.before...)
			is.Equal(b.do(test.change), test.want)
		})
	}
}

func TestSilentSource(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	b.do("set a.network.told no")
	s := b.snapshot("a")
	is.Equal(s.Network, nil)
	is.Equal(s.Unknown["network"].Key(), string(native.ReasonSourceGone))
	is.True(s.Thunderbolt != nil)
}

func TestHintCarriesItsTime(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	var got []native.Hint
	stop, err := b.platforms["a"].Facts.Watch(func(h native.Hint) { got = append(got, h) })
	is.NoErr(err)
	b.clock.Advance(3 * time.Second)
	b.do("set a.thermal fair")
	is.Equal(got, []native.Hint{{Area: native.AreaSystem, Source: "sim.set", At: native.Stamp(b.clock.Now()), BootUS: b.clock.Boot().Microseconds()}})
	is.NoErr(stop())
	is.NoErr(stop()) // twice is harmless
	b.do("set a.thermal serious")
	is.Equal(len(got), 1)
}

// A callback that calls back is against the rules and must not lock up.
func TestCallbackMayApply(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2))
	var order []native.Area
	_, err := b.platforms["a"].Facts.Watch(func(h native.Hint) {
		order = append(order, h.Area)
		if h.Area == native.AreaSystem {
			is.NoErr(b.Apply(parse("set a.memory.pressure warning")))
			order = append(order, "returned")
		}
	})
	is.NoErr(err)
	b.do("set a.thermal fair")
	is.Equal(order, []native.Area{native.AreaSystem, "returned", native.AreaMemory}) // one at a time, in order
}

// What was queued when a watch is stopped is not told.
func TestNothingIsToldAfterStop(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	facts := b.platforms["a"].Facts
	stop := func() error { return nil }
	_, err := facts.Watch(func(native.Hint) { is.NoErr(stop()) }) // the other's
	is.NoErr(err)
	stop, err = facts.Watch(func(native.Hint) { t.Error("told after it was stopped") })
	is.NoErr(err)
	b.do("set a.thermal fair")
}

func TestClosedPlatformHearsNothing(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	p, err := b.Platform("a")
	is.NoErr(err)
	received := 0
	_, err = p.Facts.Watch(func(native.Hint) { received++ })
	is.NoErr(err)
	is.NoErr(p.Close())
	is.NoErr(p.Close())
	is.Equal(b.do("set a.thermal fair"), []string{"a system sim.set "}) // others still do
	is.Equal(received, 0)
	_, err = p.Facts.Watch(func(native.Hint) {})
	is.Equal(err, native.ErrClosed)

	is.NoErr(b.Close())
	is.Equal(b.platforms["a"].Close(), nil)
	_, err = b.platforms["a"].Facts.Snapshot(t.Context(), native.AreaMemory)
	is.Equal(err, native.ErrClosed)
	_, err = b.Platform("a")
	is.Equal(err, native.ErrClosed)
}

func TestUnknownMac(t *testing.T) {
	is := is.New(t)
	w, err := sim.New(cluster(1), newBench(t, cluster(1)).clock)
	is.NoErr(err)
	defer w.Close()
	_, err = w.Platform("z")
	is.True(err != nil)
	is.Equal(w.Reach("z"), nil)
	is.True(slices.Equal(w.Macs(), []string{"a"}))
}
