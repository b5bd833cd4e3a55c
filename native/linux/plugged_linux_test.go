package linux

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
)

var (
	fast       = lanes{gigabits: 40, away: 2, towards: 2}
	networking = native.PeerService{ProtocolID: native.ProtocolIP, Version: 1}
	rdmaOffer  = native.PeerService{ProtocolID: native.ProtocolRDMA, Version: 1}
)

func port(s native.Snapshot, hostPort int) native.Port {
	if s.Thunderbolt == nil {
		return native.Port{}
	}
	p, _ := s.Thunderbolt.Port(hostPort)
	return p
}

func TestWhatIsPluggedInConforms(t *testing.T) {
	nativetest.Conform(t, func(t *testing.T) native.Platform {
		w := newWorkbench(t)
		w.plugController(0, ownUUID, "2.0", 1, 3)
		w.plugHub(0, 0x1, "Acme", "Hub 5", fast)
		w.plugPeer(0, 0x301, peerUUID, "Apple Inc.", "Mac16,9", fast, "thunderbolt0", networking, rdmaOffer)
		w.plugRDMA("rxe0", "eth0", "4: ACTIVE", "100 Gb/sec (4X EDR)", "fe80:0000:0000:0000:0000:00ff:fe00:0102")
		return w.platform
	})
}

// TestCablesAreHeard plugs and pulls, and after each change waits for the hint
// and reads what it announced.
func TestCablesAreHeard(t *testing.T) {
	w := newWorkbench(t)
	e := listen(t, w.platform)
	step := func(what string, area native.Area, change func(), source, subject string, holds func(native.Snapshot) bool) {
		t.Helper()
		e.after(what, func() error { change(); return nil }, area, source, subject, holds)
	}
	const thunderbolt, network = native.AreaThunderbolt, native.AreaNetwork

	step("a controller appears", thunderbolt, func() { w.plugController(0, ownUUID, "2.0", 1, 3) }, "uevent.add", "0-0", func(s native.Snapshot) bool {
		return len(s.Thunderbolt.Ports) == 2 && port(s, 1).Status == native.PortEmpty && port(s, 2).Negotiated.State == native.LinkDown
	})
	step("a Mac is plugged in", thunderbolt, func() {
		w.plugPeer(0, 0x1, peerUUID, "Apple Inc.", "Mac16,9", fast, "", networking, rdmaOffer)
	}, "uevent.add", "0-1.1", func(s native.Snapshot) bool {
		p := port(s, 1)
		if p.Status != native.PortPeer || len(p.Peers) != 1 || p.Capability != native.TB5 {
			return false
		}
		offers, known := p.Peers[0].Offers(native.ProtocolRDMA)
		return offers && known && p.Peers[0].DomainUUID == peerUUID && p.Negotiated.TxBitsPerS == 80e9 && port(s, 2).Status == native.PortEmpty
	})
	step("the link becomes asymmetric", thunderbolt, func() { w.retrain(0, 0x1, lanes{40, 3, 1}) }, "uevent.change", "0-1", func(s native.Snapshot) bool {
		return port(s, 1).Negotiated.TxBitsPerS == 120e9 && port(s, 1).Negotiated.RxBitsPerS == 40e9
	})
	step("it is pulled", thunderbolt, func() { w.unplug(0, 0x1) }, "uevent.remove", "0-1", func(s native.Snapshot) bool {
		return port(s, 1).Status == native.PortEmpty && len(port(s, 1).Peers) == 0
	})
	step("a hub is plugged in", thunderbolt, func() { w.plugHub(0, 0x3, "Acme", "Hub 5", lanes{40, 1, 3}) }, "uevent.add", "0-3", func(s native.Snapshot) bool {
		return port(s, 2).Status == native.PortDevice && port(s, 2).Hubs[0].Route == "0x3" && port(s, 2).Hubs[0].Negotiated.RxBitsPerS == 120e9
	})
	peer := func() {
		w.plugPeer(0, 0x503, peerUUID, "Apple Inc.", "Mac16,9", lanes{20, 2, 2}, "thunderbolt0", networking)
	}
	step("a Mac behind it", thunderbolt, peer, "uevent.add", "thunderbolt0", func(s native.Snapshot) bool {
		p := port(s, 2)
		if len(p.Peers) != 1 {
			return false
		}
		link := p.Peers[0].Negotiated
		return p.Interface == "thunderbolt0" && p.Peers[0].Hub == "0x3" && link != nil && link.TxBitsPerS == 40e9 && link.RxBitsPerS == 40e9
	})
	step("its interface goes and comes", network, func() { w.unplug(0, 0x503); peer() }, "uevent.add", "thunderbolt0", func(s native.Snapshot) bool {
		i, ok := s.Network.Interface("thunderbolt0")
		return ok && i.Type == native.InterfaceThunderbolt && i.PortNumber != nil && *i.PortNumber == 2
	})
	step("the hub is pulled, and all behind it", thunderbolt, func() { w.unplug(0, 0x3) }, "uevent.remove", "0-3", func(s native.Snapshot) bool {
		return port(s, 2).Status == native.PortEmpty && port(s, 2).Interface == "" && len(port(s, 2).Hubs) == 0
	})
}

// TestRDMAFollowsItsInterface: what a device on Ethernet can do changes with its
// interface, of which rtnetlink speaks.
func TestRDMAFollowsItsInterface(t *testing.T) {
	is := is.New(t)
	w := newWorkbench(t)
	e := listen(t, w.platform)
	const area = native.AreaRDMA
	down := func() error { w.plugRDMA("mlx5_0", "eth0", "1: DOWN", "40 Gb/sec (4X QDR)"); return nil }
	e.after("a device appears", down, area, "uevent.add", "mlx5_0", func(s native.Snapshot) bool {
		return s.RDMA.Devices[0].PortState == native.RDMAPortDown
	})
	up := func() error {
		w.write("class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE")
		w.write("class/infiniband/mlx5_0/ports/1/gids/0", "0000:0000:0000:0000:0000:ffff:a9fe:0101")
		w.edit("eth0", func(*tables) {})
		return nil
	}
	e.after("its interface gets a link", up, area, "rtnetlink.link", "eth0", func(s native.Snapshot) bool {
		return s.RDMA.Devices[0].PortState == native.RDMAPortActive && len(s.RDMA.Devices[0].GIDs) == 1 && s.RDMA.Devices[0].GIDs[0].Address.Is4In6()
	})
	gone := func() error { w.unplugRDMA("mlx5_0"); return nil }
	e.after("the device goes", gone, area, "uevent.remove", "mlx5_0", func(s native.Snapshot) bool {
		return len(s.RDMA.Devices) == 0
	})
	// Without a device nobody is told of links who asked about RDMA.
	e.after("a link of no device", func() error { w.edit("eth1", func(*tables) {}); return nil }, native.AreaNetwork, "rtnetlink.link", "eth1",
		func(native.Snapshot) bool { return true })
	is.NoErr(e.stop())
	for len(e.hints) > 0 {
		hint := <-e.hints
		is.True(hint.Area != area || !strings.HasPrefix(hint.Source, "rtnetlink.") || hint.Subject != "eth1")
	}
}
