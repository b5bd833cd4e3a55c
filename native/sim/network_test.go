package sim_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

func TestAddressesGoWithTheLinkAndComeLate(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	is.Equal(b.addresses("a", "en1"), []string{"169.254.100.1/16", "fe80::1:1/64"})
	b.do("set a.en2.address 10.0.0.1/30 manual", "set a.en2.address fe80::9/64")
	is.Equal(b.addresses("a", "en2"), []string{"10.0.0.1/30"}) // no link yet

	b.do("unplug a.tb1")
	is.Equal(*b.iface("a", "en1").Link, false)
	is.Equal(b.addresses("a", "en1"), nil)
	is.Equal(b.addresses("a", "en2"), []string{"10.0.0.1/30"}) // manual ones stay
	b.do("plug a.tb1 b.tb1")
	is.Equal(*b.iface("a", "en1").Link, true)
	is.Equal(b.addresses("a", "en1"), nil)

	b.clock.Advance(sim.DelayIPv6 - 1)
	is.Equal(b.hints(), nil)
	b.clock.Advance(1)
	is.Equal(b.hints(), []string{
		"a network sim.address en1", "a rdma sim.address rdma_en1", "b network sim.address en1", "b rdma sim.address rdma_en1"})
	is.Equal(b.addresses("a", "en1"), []string{"fe80::1:1/64"})

	// A flapping cable begins the wait anew.
	b.do("unplug a.tb1", "plug a.tb1 b.tb1")
	b.clock.Advance(sim.DelaySelfAssigned - 1)
	is.Equal(b.addresses("a", "en1"), []string{"fe80::1:1/64"})
	b.clock.Advance(1)
	is.Equal(b.addresses("a", "en1"), []string{"169.254.100.1/16", "fe80::1:1/64"})
	is.Equal(b.clock.Pending(), 0)
}

func TestPrimaryInterface(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	is.Equal(b.snapshot("a").Network.PrimaryInterface, "en0")
	b.do("set office.link down")
	n := b.snapshot("a").Network
	is.Equal(n.PrimaryInterface, "")
	is.Equal(n.Unknown["primary_interface"], native.ReasonNotConnected)
	b.do("set office.link up")
	is.Equal(b.snapshot("a").Network.PrimaryInterface, "") // DHCP takes its time
	b.clock.Advance(sim.DelayDHCP)
	is.Equal(b.snapshot("a").Network.PrimaryInterface, "en0")
	b.do("set a.en0.address 10.0.0.1/8 manual", "set a.en0.link down")
	is.Equal(b.snapshot("a").Network.PrimaryInterface, "") // an address without a link
	b.do("set a.en0.link up")
	is.Equal(b.snapshot("a").Network.PrimaryInterface, "en0")
	b.do("set a.en0.address 169.254.7.7/16")
	is.Equal(b.snapshot("a").Network.PrimaryInterface, "")
}

func TestInterfaceGoesAndComes(t *testing.T) {
	is := is.New(t)
	b := newBench(t, bridged(cluster(2, "a.tb1 b.tb1"), "en1", "en2"))
	index := b.iface("a", "en1").Index
	b.do("set a.en1.present no")
	s := b.snapshot("a")
	_, there := s.Network.Interface("en1")
	is.True(!there)
	is.Equal(s.Network.Bridges[0].KernelMembers, []string{"en2"})
	is.Equal(s.Network.Bridges[0].StoredMembers, []string{"en1", "en2"})
	port, _ := s.Thunderbolt.Port(1)
	is.Equal(port.Unknown["interface"], native.ReasonSourceGone)
	is.Equal(*b.iface("b", "en1").Link, false)
	b.do("set a.en1.present yes")
	is.True(b.iface("a", "en1").Index > index)
	is.Equal(*b.iface("b", "en1").Link, true)
}

func TestRDMADevice(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2, "a.tb1 b.tb1"))
	devices := b.snapshot("a").RDMA.Devices
	is.Equal(len(devices), 3) // one for each TB5 port
	d := devices[0]
	is.Equal(d.Name, "rdma_en1")
	is.Equal(d.PortState, native.RDMAPortActive)
	is.Equal(*d.SpeedBitsPerS, int64(80e9))
	is.Equal(d.GIDs[0].Address.IsLinkLocalUnicast(), true)
	is.Equal([]string{d.GIDs[1].Address.String(), d.GIDs[2].Address.String()}, []string{"::ffff:169.254.100.1", "fe80::1:1"})
	is.Equal(d.GIDs[2].Index, 2)
	is.Equal(devices[1].PortState, native.RDMAPortDown)
	is.Equal(len(devices[1].GIDs), 1) // no address without a link

	b.do("set b.rdma off")
	is.Equal(b.snapshot("a").RDMA.Devices[0].PortState, native.RDMAPortDown)
	is.Equal(b.snapshot("b").RDMA.Devices, []native.RDMADevice{})
	offered, known := b.port("a", 1).Peers[0].Offers(native.ProtocolRDMA)
	is.True(known && !offered)
	offered, _ = b.port("b", 1).Peers[0].Offers(native.ProtocolRDMA)
	is.True(offered) // that one still has it on

	b.do("set b.rdma on_after_restart", "restart b")
	is.Equal(b.snapshot("b").RDMA.Switch, native.RDMAOnAfterRestart)
	b.clock.Advance(sim.RestartTakes)
	is.Equal(b.snapshot("b").RDMA.Switch, native.RDMAOn)
	is.Equal(b.snapshot("a").RDMA.Devices[0].PortState, native.RDMAPortActive)
}

func TestNoRDMAOnThunderbolt4(t *testing.T) {
	is := is.New(t)
	s := cluster(2, "a.tb1 b.tb1")
	for i := range s.Macs[1].Ports {
		s.Macs[1].Ports[i].Capability = native.TB4
	}
	b := newBench(t, s)
	is.Equal(b.port("a", 1).Negotiated.Speed().String(), "40 Gb/s")
	is.Equal(*b.snapshot("b").RDMA.HardwareCapable, false)
	is.Equal(b.snapshot("b").RDMA.Devices, []native.RDMADevice{})
	is.Equal(b.snapshot("a").RDMA.Devices[0].PortState, native.RDMAPortDown)
}

func TestNoRDMAOnAnOlderSystem(t *testing.T) {
	is := is.New(t)
	s := cluster(2, "a.tb1 b.tb1")
	s.Macs[1].OSCapable, s.Macs[1].RDMA = false, native.RDMAOff
	b := newBench(t, s)
	is.Equal(*b.snapshot("b").RDMA.OSCapable, false)
	is.Equal(b.snapshot("b").RDMA.Devices, []native.RDMADevice{})
	is.Equal(b.snapshot("a").RDMA.Devices[0].PortState, native.RDMAPortDown)
}

func TestWhatIsNotSaidIsUnknown(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(1))
	s := b.snapshot("a")
	is.True(s.Simulated)
	is.Equal(s.Platform, "sim")
	is.Equal(s.System.Unknown["cpu_use_ratio"], native.ReasonNotInScenario)
	is.Equal(s.System.Unknown["battery_ratio"], native.ReasonNoHardware)
	is.Equal(s.Identity.Unknown["chip"], native.ReasonNotInScenario)
	is.Equal(s.Memory.Unknown["wired_bytes"], native.ReasonNotInScenario)
	is.Equal(*s.Memory.AvailableBytes, int64(112<<30))
	silent := cluster(1)
	silent.Macs[0].UsedBytes = 0
	memory := newBench(t, silent).snapshot("a").Memory
	is.Equal([]native.Reason{memory.Unknown["used_bytes"], memory.Unknown["available_bytes"]}, []native.Reason{native.ReasonNotInScenario, native.ReasonNotInScenario})
	b.do("set a.battery 0.25")
	is.Equal(*b.snapshot("a").System.BatteryRatio, 0.25)
	is.Equal(b.snapshot("a").System.Unknown["system_power_watts"].Key(), native.ReasonNotInScenario.Key()) // never made up
	b.do("set a.watts 61.5")
	b.do("set a.gpu_use 0.5")
	b.do("set a.celsius 55")
	busy := b.snapshot("a").System
	is.Equal([]float64{*busy.SystemPowerWatts, *busy.GPUUseRatio, *busy.GPUTemperatureCelsius}, []float64{61.5, 0.5, 55})
	is.Equal(busy.Unknown["system_power_watts"], native.Reason(""))
}

// A reader may do with its snapshot what it likes.
func TestSnapshotIsACopy(t *testing.T) {
	is := is.New(t)
	s := cluster(2, "a.tb1 b.tb1")
	s.Macs[0].Identity.CPUCores, s.Macs[0].Identity.GPUCores = new(8), new(10)
	b := newBench(t, s)
	before := b.snapshot("a")
	mine := b.snapshot("a")
	*mine.Identity.CPUCores, *mine.Identity.GPUCores = 9, 11
	mine.Thunderbolt.Ports[0].Peers[0].Services[0].ProtocolID = 9
	mine.Network.Interfaces[0].Addresses[0].Tentative = true
	*mine.Network.Interfaces[0].Up = false
	is.Equal(b.snapshot("a"), before)
}

// Every interface gives itself an address of fe80::/64 where a scenario states none.
// It goes with the link and into a bridge, and comes back soon after.
func TestOwnLinkLocalAddresses(t *testing.T) {
	is := is.New(t)
	s := cluster(2, "a.tb1 b.tb2")
	for m := range s.Macs {
		for k := range s.Macs[m].Interfaces {
			s.Macs[m].Interfaces[k].Addresses = nil
		}
	}
	s.Macs[0].Interfaces = append(s.Macs[0].Interfaces, scenario.Interface{Name: "lo0", Type: native.InterfaceLoopback, LinkUp: true})
	s.Macs[0].Bridges = []scenario.Bridge{{Name: "bridge0", Members: []string{"en2"}}}
	b := newBench(t, s)
	own := func(name string) string { // from the hardware address, as RFC 4291 has it
		mac, err := net.ParseMAC(b.iface("a", name).HardwareAddress)
		is.NoErr(err)
		return netip.AddrFrom16([16]byte{0xfe, 0x80, 8: mac[0] ^ 2, 9: mac[1], 10: mac[2], 11: 0xff, 12: 0xfe, 13: mac[3], 14: mac[4], 15: mac[5]}).String() + "/64"
	}
	is.Equal(b.addresses("a", "en0"), []string{own("en0")})
	is.Equal(b.addresses("a", "en1"), []string{own("en1")})
	is.Equal(b.addresses("a", "en2"), nil) // no link, and a bridge's
	is.Equal(b.addresses("a", "lo0"), nil)
	b.do("unplug a.tb1")
	is.Equal(b.addresses("a", "en1"), nil)
	b.do("plug a.tb1 b.tb2")
	is.Equal(b.addresses("a", "en1"), nil)
	b.clock.Advance(sim.DelayIPv6)
	is.Equal(b.addresses("a", "en1"), []string{own("en1")})
	b.do("set a.en1.bridge bridge0")
	b.clock.Advance(sim.DelayIPv6)
	is.Equal(b.addresses("a", "en1"), nil)
	is.Equal(b.addresses("a", "bridge0"), []string{own("bridge0")})
	b.do("set a.en1.bridge none")
	b.clock.Advance(sim.DelayIPv6)
	is.Equal(b.addresses("a", "en1"), []string{own("en1")})
	is.Equal(b.addresses("a", "bridge0"), nil)
	is.Equal(len(b.snapshot("a").RDMA.Devices[0].GIDs), 1) // the first of the table is the same address
}
