package useractions

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/topology/readiness"
	"fulmen/native/nativetest"
)

const (
	nodeA = api.NodeID("cpv0cwypxp44qw0p")
	nodeB = api.NodeID("71532pmrr5f6wz0c")
)

// A Mac that was on a user action when the daemon ended is not forgotten while its documents
// are still to come, and is known to be back when they are there.
func TestUserActionsOutliveTheDaemon(t *testing.T) {
	is := is.New(t)
	clock := nativetest.NewClock(time.Unix(1_800_000_000, 0))
	link, err := api.NewLinkID(api.LinkEnd{Node: nodeA, PortNumber: 1}, api.LinkEnd{Node: nodeB, PortNumber: 1})
	is.NoErr(err)
	end := func(node api.NodeID) *readiness.End {
		return &readiness.End{
			End: api.LinkEnd{Node: node, PortNumber: 1}, Name: string(node[:4]), Capability: api.Thunderbolt5,
			Identity: &api.Identity{Platform: api.PlatformDarwin, OSVersion: "26.2", BootedAt: api.TimeOf(clock.Now())},
			RDMA:     &api.RDMA{PortNumber: 1, HardwareCapable: new(true), OSCapable: new(true), SwitchedOn: new(true), Device: &api.RDMADevice{Name: "rdma_en1", PortState: api.RDMAPortActive}},
		}
	}
	cable := func(change func(far *readiness.End)) []readiness.Cable {
		far := end(nodeB)
		change(far)
		return []readiness.Cable{{Link: link, Low: end(nodeA), High: far}}
	}
	off := func(far *readiness.End) { far.RDMA.SwitchedOn, far.RDMA.Device = new(false), nil }

	var disk []Kept
	saves := 0
	open := func() *UserActions {
		return New(clock, disk, func(all []Kept) {
			saves++
			disk = all
		})
	}
	first := open()
	first.See(cable(off))
	first.See(cable(off))
	is.Equal(saves, 1) // only what is new
	first.See(cable(func(far *readiness.End) { off(far); far.Stale = true }))
	is.True(disk[0].Left)

	second := open()
	is.Equal(len(second.See(nil)), 0)                                                // no cable is known yet
	is.Equal(len(second.See(cable(func(far *readiness.End) { far.RDMA = nil }))), 0) // nor what the Mac says of itself
	is.Equal(second.See(cable(func(*readiness.End) {}))[nodeB].Done, true)           // it is back, with its switch on
	is.True(!disk[0].MadeAt.IsZero())

	clock.Advance(4 * time.Minute)
	third := open()
	is.True(third.See(cable(func(*readiness.End) {}))[nodeB].Done) // shown for ten minutes, whoever shows it
	clock.Advance(7 * time.Minute)
	is.Equal(len(third.See(cable(func(*readiness.End) {}))), 0)
	is.Equal(len(disk), 0)

	first.See(cable(off))
	clock.Advance(keptFor + time.Minute)
	is.Equal(len(open().before), 0) // of too long ago
}
