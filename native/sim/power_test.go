package sim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim"
)

// listen collects the power notices of a Mac.
func (b *bench) listen(mac string) *[]native.PowerNotice {
	b.t.Helper()
	var notices []native.PowerNotice
	if _, err := b.platforms[mac].Power.Notices(func(n native.PowerNotice) { notices = append(notices, n) }); err != nil {
		b.t.Fatal(err)
	}
	return &notices
}

func TestSleepWaitsForTheAcknowledgement(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	notices := b.listen("a")
	b.do("sleep a")
	is.Equal(len(*notices), 1)
	n := (*notices)[0]
	is.Equal(n.Event, native.PowerWillSleep)
	is.Equal(n.WithinS, sim.AcknowledgeWithin.Seconds())
	is.Equal(b.port("b", 1).Status, native.PortPeer) // not yet

	power := b.platforms["a"].Power
	is.True(errors.Is(power.Acknowledge(t.Context(), "other"), native.ErrNotFound))
	is.NoErr(power.Acknowledge(t.Context(), n.ID))
	is.Equal(b.port("b", 1).Status, native.PortEmpty)
	is.True(errors.Is(power.Acknowledge(t.Context(), n.ID), native.ErrNotFound)) // past

	b.hints()
	b.do("wake a")
	is.Equal((*notices)[1].Event, native.PowerAwake)
	is.Equal((*notices)[1].ID, "")
	is.Equal(b.port("b", 1).Status, native.PortPeer)
}

func TestSleepComesAtItsDeadline(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	b.listen("a")
	b.do("sleep a")
	b.clock.Advance(sim.AcknowledgeWithin - 1)
	is.Equal(b.port("b", 1).Status, native.PortPeer)
	b.clock.Advance(1)
	is.Equal(b.port("b", 1).Status, native.PortEmpty)
}

func TestEveryListenerIsWaitedFor(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	notices := b.listen("a")
	second, err := b.Platform("a")
	is.NoErr(err)
	_, err = second.Power.Notices(func(native.PowerNotice) {})
	is.NoErr(err)
	b.do("sleep a")
	is.NoErr(b.platforms["a"].Power.Acknowledge(t.Context(), (*notices)[0].ID))
	is.Equal(b.port("b", 1).Status, native.PortPeer)
	is.NoErr(second.Close()) // who is gone need not be waited for
	is.Equal(b.port("b", 1).Status, native.PortEmpty)
}

func TestSleepCalledOff(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	notices := b.listen("a")
	b.do("sleep a", "wake a")
	is.Equal((*notices)[1].Event, native.PowerAwake)
	b.clock.Advance(time.Hour)
	is.Equal(b.port("b", 1).Status, native.PortPeer)
}

func TestLid(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	notices := b.listen("a")
	b.do("set a.lid closed")
	is.Equal((*notices)[0].Cause, "lid closed")
	b.clock.Advance(sim.AcknowledgeWithin)
	is.Equal(b.port("b", 1).Status, native.PortEmpty)
	b.do("set a.lid open")
	is.Equal((*notices)[1].Cause, "lid opened")
	is.Equal(b.port("b", 1).Status, native.PortPeer)
}

func TestRestart(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	before := b.snapshot("a")
	notices := b.listen("a")
	b.do("restart a")
	is.Equal((*notices)[0].Event, native.PowerWillPowerOff)
	is.NoErr(b.platforms["a"].Power.Acknowledge(t.Context(), (*notices)[0].ID))
	is.Equal(b.port("b", 1).Status, native.PortEmpty)
	b.hints()
	b.do("wake a") // it comes by itself
	b.clock.Advance(sim.RestartTakes - 1)
	is.Equal(b.hints(), nil)
	b.clock.Advance(1)
	after := b.snapshot("a")
	is.True(after.Identity.BootID != before.Identity.BootID)
	is.Equal(after.Identity.BootedAt, native.Stamp(b.clock.Now()))
	is.Equal(b.port("b", 1).Status, native.PortPeer)
	is.Equal((*notices)[1].Event, native.PowerAwake)

	b.clock.Advance(sim.DelaySelfAssigned)
	addresses := b.addresses("a", "en1")
	is.Equal(len(addresses), 2)
	is.True(addresses[0] != "169.254.100.1/16") // a new start, a new address
	is.Equal(addresses[1], "fe80::1:1/64")
}

func TestKeepAwake(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	second, err := b.Platform("a")
	is.NoErr(err)
	release, err := second.Power.KeepAwake(t.Context(), "a job runs")
	is.NoErr(err)
	is.NoErr(release())
	is.NoErr(second.Close())
	_, err = second.Power.KeepAwake(t.Context(), "a download")
	is.True(errors.Is(err, native.ErrClosed))
}
