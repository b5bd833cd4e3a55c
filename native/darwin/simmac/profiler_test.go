//go:build cgo && linux && darwinsim

package simmac_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/darwin/simfw"
	"fulmen/native/darwin/simmac"
)

// secondOpinion is a Mac with a cable whose system_profiler is a test's.
type secondOpinion struct {
	native.Platform
	machine *simfw.Machine
	asked   int
	answer  native.Thunderbolt
	err     error
	hints   []native.Hint
	advance func(time.Duration)
	want    native.Snapshot
}

// newSecondOpinion asks about a variant; system_profiler says of it what is so.
func newSecondOpinion(t *testing.T, change func(acio *simmac.Node)) *secondOpinion {
	t.Helper()
	is := is.New(t)
	d := newMachines(t, pair(t))
	do(t, d, "plug A.tb2 B.tb1 80G")
	source := sourceOf(t, d)
	areas := []native.Area{native.AreaThunderbolt}
	o := &secondOpinion{want: variantFacts(t, source, variant{change: func(*simmac.Node) {}}, areas)}
	o.answer = *variantFacts(t, source, variant{change: func(*simmac.Node) {}}, areas).Thunderbolt
	p, m, clock := variantOf(t, source, variant{change: change}, func(context.Context) (native.Thunderbolt, error) {
		o.asked++
		o.read(t) // while it runs, others read
		return o.answer, o.err
	})
	o.Platform, o.machine, o.advance = p, m, clock.Advance
	stop, err := p.Facts.Watch(func(h native.Hint) { o.hints = append(o.hints, h) })
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(stop()) })
	return o
}

func (o *secondOpinion) read(t *testing.T) native.Port {
	t.Helper()
	is := is.New(t)
	areas := []native.Area{native.AreaThunderbolt}
	s, err := o.Facts.Snapshot(t.Context(), areas...)
	is.NoErr(err)
	is.Equal(s.Check(areas), nil)
	return s.Thunderbolt.Ports[1]
}

// announce lets the system announce something of Thunderbolt, once it was heard.
func (o *secondOpinion) announce(t *testing.T) {
	t.Helper()
	is := is.New(t)
	received := make(chan struct{}, 100)
	stop, err := o.Facts.Watch(func(h native.Hint) {
		if h.Area == native.AreaThunderbolt {
			received <- struct{}{}
		}
	})
	is.NoErr(err)
	o.machine.PowerMessage(powerAwake, 0)
	<-received
	is.NoErr(stop())
}

// powerAwake is kIOMessageSystemHasPoweredOn.
const powerAwake = 0xE0000300

func noLink(a *simmac.Node)     { rename(a, peerLink) }
func noServices(a *simmac.Node) { rename(a, service) }

// TestSystemProfilerFillsInWhatTheRegistryLeavesOpen: once, and announced.
func TestSystemProfilerFillsInWhatTheRegistryLeavesOpen(t *testing.T) {
	for name, change := range map[string]func(*simmac.Node){"computers": noLink, "services": noServices} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			clean(t)
			o := newSecondOpinion(t, change)
			o.answer.Ports[1].Peers[0].DomainUUID = strings.ToLower(o.answer.Ports[1].Peers[0].DomainUUID)
			o.read(t)
			is.Equal(o.asked, 0) // the registry may still be filling
			o.advance(time.Second)
			is.Equal(o.asked, 1)
			is.Equal(len(o.hints), 1)
			is.Equal(o.hints[0].Source, "system_profiler.answered")
			is.Equal(o.hints[0].Area, native.AreaThunderbolt)
			got := o.read(t)
			got.Peers[0].DomainUUID = strings.ToUpper(got.Peers[0].DomainUUID)
			is.Equal(got, o.want.Thunderbolt.Ports[1])
		})
	}
}

// TestSystemProfilerIsAskedAfterEvents, and never by the time.
func TestSystemProfilerIsAskedAfterEvents(t *testing.T) {
	is := is.New(t)
	clean(t)
	o := newSecondOpinion(t, noLink)
	o.read(t)
	o.advance(time.Second)
	o.read(t)
	o.advance(10 * time.Minute) // with ten slow re-reads
	o.read(t)
	is.Equal(o.asked, 1)
	answers := 0
	for _, h := range o.hints {
		is.True(h.Source != native.HintSafetyReread)
		if h.Source == "system_profiler.answered" {
			answers++
		}
	}
	is.Equal(answers, 1)

	o.announce(t)
	is.Equal(o.read(t).Peers, nil) // the cable may be another by now
	o.advance(time.Second)
	is.Equal(o.asked, 2)
	is.Equal(o.read(t), o.want.Thunderbolt.Ports[1])

	o.announce(t)
	o.announce(t)
	o.read(t)
	o.advance(time.Minute)
	is.Equal(o.asked, 3)
}

// TestWhatSystemProfilerFillsInIsNotMissed: it is announced, and no event is missing.
func TestWhatSystemProfilerFillsInIsNotMissed(t *testing.T) {
	is := is.New(t)
	clean(t)
	o := newSecondOpinion(t, noLink)
	o.advance(3 * time.Minute) // the first slow re-read finds it open, the second filled in
	is.Equal(o.asked, 1)
	for _, h := range o.hints {
		is.True(h.Source != native.HintSafetyReread)
	}
}

func TestSystemProfilerIsNotAskedForNothing(t *testing.T) {
	is := is.New(t)
	clean(t)
	o := newSecondOpinion(t, func(*simmac.Node) {})
	o.read(t)
	o.announce(t)
	o.read(t)
	o.advance(10 * time.Minute)
	is.Equal(o.asked, 0)
}

// TestSystemProfilerThatDoesNotHelp leaves what is open unknown, with a reason.
func TestSystemProfilerThatDoesNotHelp(t *testing.T) {
	for name, c := range map[string]struct {
		open   func(*simmac.Node)
		change func(o *secondOpinion, p *native.Port)
		field  string
		why    string
	}{
		"an error":              {noLink, func(o *secondOpinion, _ *native.Port) { o.err = errors.New("too slow") }, "peers", "too slow"},
		"an error, of services": {noServices, func(o *secondOpinion, _ *native.Port) { o.err = errors.New("too slow") }, "services", "too slow"},
		"no receptacle":         {noLink, func(o *secondOpinion, _ *native.Port) { o.answer.Ports = nil }, "peers", "does not report it either"},
		"another domain":        {noLink, func(_ *secondOpinion, p *native.Port) { p.DomainUUID = p.Peers[0].DomainUUID }, "peers", "a different domain"},
		"nothing there":         {noLink, func(_ *secondOpinion, p *native.Port) { p.Status, p.Peers = native.PortEmpty, []native.Peer{} }, "peers", "disagree about what is connected"},
		"behind a hub":          {noLink, func(_ *secondOpinion, p *native.Port) { p.Peers[0].Hub = "0x1" }, "peers", "disagree about what is connected"},
		"another computer":      {noServices, func(_ *secondOpinion, p *native.Port) { p.Peers[0].DomainUUID = p.DomainUUID }, "services", "not even networking"},
		"no services":           {noServices, func(_ *secondOpinion, p *native.Port) { p.Peers[0].Services = nil }, "services", "not even networking"},
		"an empty list":         {noServices, func(_ *secondOpinion, p *native.Port) { p.Peers[0].Services = []native.PeerService{} }, "services", "not even networking"},
		"an empty list of a computer": {noLink, func(_ *secondOpinion, p *native.Port) { p.Peers[0].Services = []native.PeerService{} }, "services",
			"not even networking"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			clean(t)
			o := newSecondOpinion(t, c.open)
			c.change(o, &o.answer.Ports[1])
			o.read(t)
			o.advance(time.Second)
			p := o.read(t)
			why := p.Unknown["peers"]
			if c.field == "services" {
				is.Equal(p.Peers[0].Services, nil)
				why = p.Peers[0].Unknown["services"]
			} else {
				is.Equal(p.Peers, nil)
				is.True(p.Status != native.PortEmpty)
			}
			is.True(strings.Contains(string(why), c.why)) // the reason says it
		})
	}
}

// TestSystemProfilerEndsWithThePlatform: one that runs is ended, and nothing is asked
// after that.
func TestSystemProfilerEndsWithThePlatform(t *testing.T) {
	is := is.New(t)
	clean(t)
	o := newSecondOpinion(t, noLink)
	o.read(t)
	is.NoErr(o.Close())
	o.advance(time.Minute)
	is.Equal(o.asked, 0)
}
