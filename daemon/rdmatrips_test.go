package daemon

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native/nativetest"
)

// A Mac that was on a trip when the daemon ended is not forgotten while its documents
// are still to come, and is known to be back when they are there.
func TestTripsOutliveTheDaemon(t *testing.T) {
	is := is.New(t)
	clock := nativetest.NewClock(time.Unix(1_800_000_000, 0))
	link, err := api.NewLinkID(api.LinkEnd{Node: nodeA, Receptacle: 1}, api.LinkEnd{Node: nodeB, Receptacle: 1})
	is.NoErr(err)
	end := func(node api.NodeID) *readiness.End {
		return &readiness.End{
			End: api.LinkEnd{Node: node, Receptacle: 1}, Name: string(node[:4]), Capability: api.Thunderbolt5,
			Identity: &api.Identity{Platform: api.PlatformDarwin, OSVersion: "26.2", BootedAt: api.TimeOf(clock.Now())},
			RDMA:     &api.RDMA{Receptacle: 1, HardwareCapable: new(true), OSCapable: new(true), SwitchedOn: new(true), Device: &api.RDMADevice{Name: "rdma_en1", PortState: api.RDMAPortActive}},
		}
	}
	cable := func(change func(far *readiness.End)) []readiness.Cable {
		far := end(nodeB)
		change(far)
		return []readiness.Cable{{Link: link, Low: end(nodeA), High: far}}
	}
	off := func(far *readiness.End) { far.RDMA.SwitchedOn, far.RDMA.Device = new(false), nil }

	var disk []keptTrip
	saves := 0
	open := func() *trips {
		t := &trips{clock: clock, before: tripsOf(disk, clock.Now(), clock.Boot())}
		t.keep = func(all readiness.Trips) {
			saves++
			disk = tripsKept(all, clock.Now(), clock.Boot())
		}
		return t
	}
	first := open()
	first.see(cable(off))
	first.see(cable(off))
	is.Equal(saves, 1) // only what is new
	first.see(cable(func(far *readiness.End) { off(far); far.Stale = true }))
	is.True(disk[0].Left)

	second := open()
	is.Equal(len(second.see(nil)), 0)                                                // no cable is known yet
	is.Equal(len(second.see(cable(func(far *readiness.End) { far.RDMA = nil }))), 0) // nor what the Mac says of itself
	is.Equal(second.see(cable(func(*readiness.End) {}))[nodeB].Done, true)           // it is back, with its switch on
	is.True(!disk[0].DoneAt.IsZero())

	clock.Advance(4 * time.Minute)
	third := open()
	is.True(third.see(cable(func(*readiness.End) {}))[nodeB].Done) // shown for ten minutes, whoever shows it
	clock.Advance(7 * time.Minute)
	is.Equal(len(third.see(cable(func(*readiness.End) {}))), 0)
	is.Equal(len(disk), 0)

	first.see(cable(off))
	clock.Advance(tripsFor + time.Minute)
	is.Equal(len(open().before), 0) // of too long ago
}

// A request for RDMA that waits for a trip is kept over a start of the Mac that was
// asked, and counts for an hour in all.
func TestWishesOutliveTheDaemon(t *testing.T) {
	is := is.New(t)
	link, err := api.NewLinkID(api.LinkEnd{Node: nodeA, Receptacle: 1}, api.LinkEnd{Node: nodeB, Receptacle: 1})
	is.NoErr(err)
	by := api.Principal{User: "ada", Node: nodeA}
	now := time.Unix(1_800_000_000, 0)
	kept := wishesKept(map[api.LinkID]wanting{link: {by, 5000*time.Second + continueWithin}}, now, 5000*time.Second)

	// Twenty minutes later, and a minute after a new start of the system.
	later := wantedOf(kept, now.Add(20*time.Minute), time.Minute)
	is.Equal(later, map[api.LinkID]wanting{link: {by, 41 * time.Minute}})
	is.Equal(len(wantedOf(kept, now.Add(continueWithin), time.Minute)), 0)
	// A wall clock that was set back makes it count for no longer than an hour.
	is.Equal(wantedOf(kept, now.Add(-9*time.Hour), 0)[link].until, continueWithin)
}
