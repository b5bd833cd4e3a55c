package sim_test

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// The hubs hang on hub on a: hub.1 - b, hub.2 - dock.up, dock.1 - c.
func TestNestedHubs(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(4, "a.tb1 hub.up", "b.tb1 hub.1", "hub.3 dock.up", "dock.2 c.tb2 20G", "d.tb1 dock.1"))
	a1 := b.port("a", 1)
	is.Equal(a1.Status, native.PortPeer)
	is.Equal(a1.Negotiated.Speed().String(), "80 Gb/s") // as the port says, whatever is behind
	is.Equal(len(a1.Hubs), 2)
	is.Equal([]string{a1.Hubs[0].Route, a1.Hubs[0].Parent, a1.Hubs[0].Name}, []string{"0x1", "", "Hub 5"})
	is.Equal([]string{a1.Hubs[1].Route, a1.Hubs[1].Parent, a1.Hubs[1].Name}, []string{"0x301", "0x1", "Dock 4"})
	is.Equal(a1.Hubs[1].Negotiated.Speed().String(), "40 Gb/s")

	is.Equal(len(a1.Peers), 3)
	for i, want := range []struct{ mac, hub, speed string }{
		{"b", "0x1", "80 Gb/s"}, {"d", "0x301", "40 Gb/s"}, {"c", "0x301", "20 Gb/s"},
	} {
		portNumber := 1
		if want.mac == "c" {
			portNumber = 2
		}
		theirs := b.port(want.mac, portNumber)
		is.Equal(a1.Peers[i].DomainUUID, theirs.DomainUUID)
		is.Equal(a1.Peers[i].Hub, want.hub)
		is.Equal(a1.Peers[i].Negotiated.Speed().String(), want.speed)

		// From the other side there is no hub, and no other peer of it.
		is.Equal(len(theirs.Hubs), 0)
		is.Equal(len(theirs.Peers), 1)
		is.Equal(theirs.Peers[0].DomainUUID, a1.DomainUUID)
		is.Equal(theirs.Peers[0].Hub, "")
		is.Equal(theirs.Negotiated, a1.Peers[i].Negotiated) // symmetric ones
	}

	// With the owner asleep the hubs lead nowhere.
	b.do("sleep a")
	is.Equal(b.port("c", 2).Status, native.PortEmpty)
	is.Equal(b.port("c", 2).Negotiated.State, native.LinkDown)
	b.do("wake a", "unplug dock.up")
	is.Equal(b.port("c", 2).Status, native.PortEmpty)
	is.Equal(len(b.port("a", 1).Peers), 1)
}

// Hubs of two owners, joined downstream to downstream: each owner sees the
// other behind its own hub.
func TestHubsOfTwoOwners(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 hub.up", "b.tb1 dock.up", "hub.2 dock.1 20G"))
	a1, b1 := b.port("a", 1), b.port("b", 1)
	is.Equal(a1.Peers[0].DomainUUID, b1.DomainUUID)
	is.Equal(b1.Peers[0].DomainUUID, a1.DomainUUID)
	is.Equal(a1.Peers[0].Hub, "0x1")
	is.Equal(b1.Peers[0].Hub, "0x1")
	is.Equal(len(a1.Hubs), 1)
}

func TestHubsInACircle(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	b.do("plug hub.up dock.1", "plug dock.up hub.1", "plug a.tb1 hub.2") // no scenario may begin so
	is.Equal(b.port("a", 1).Status, native.PortEmpty)
	b.do("unplug hub.up", "unplug a.tb1", "plug hub.up a.tb1", "plug dock.1 hub.2")
	is.Equal(len(b.port("a", 1).Hubs), 2)
	is.Equal(b.port("a", 1).Peers, []native.Peer{}) // it does not meet itself
}

func TestDockIsNoPeer(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1, "a.tb1 dock.up"))
	a1 := b.port("a", 1)
	is.Equal(a1.Status, native.PortDevice)
	is.Equal(a1.Negotiated.Speed().String(), "40 Gb/s")
	is.Equal(*b.iface("a", "en1").Link, false)
}

// A real desk: three Macs in a triangle, one side through a hub.
func TestEveryPeerFromBothSides(t *testing.T) {
	is := is.New(t)
	s, err := scenario.Load("hub-3")
	is.NoErr(err)
	b := newBench(t, s)
	owner := map[string]string{} // of domains
	for _, mac := range b.Macs() {
		for _, port := range b.snapshot(mac).Thunderbolt.Ports {
			owner[port.DomainUUID] = mac
		}
	}
	sees := map[[2]string]native.Peer{}
	for _, mac := range b.Macs() {
		for _, port := range b.snapshot(mac).Thunderbolt.Ports {
			for _, peer := range port.Peers {
				sees[[2]string{mac, owner[peer.DomainUUID]}] = peer
				offered, known := peer.Offers(native.ProtocolRDMA)
				is.True(offered && known)
				is.Equal(port.Negotiated.Speed().String(), "80 Gb/s")
			}
		}
	}
	is.Equal(len(sees), 6)
	is.Equal(sees[[2]string{"macbook-3", "macbook-2"}].Hub, "0x1") // it drives the hub
	is.Equal(sees[[2]string{"macbook-2", "macbook-3"}].Hub, "")
	is.Equal(sees[[2]string{"macbook-1", "macbook-3"}].Hub, "")
	for _, mac := range []string{"macbook-1", "macbook-2", "macbook-3"} {
		active := 0
		for _, device := range b.snapshot(mac).RDMA.Devices {
			if device.PortState == native.RDMAPortActive {
				active++
			}
		}
		is.Equal(active, 2)
	}
	is.Equal(*b.snapshot("ultra").RDMA.HardwareCapable, false)
}
