package sim

import (
	"net/netip"
	"slices"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// rdmaBitsPerS is what a device of a TB5 port states: 8 lanes of 10 Gb/s.
const rdmaBitsPerS = 8 * 10 * gigabit

// offersRDMA reports whether a Mac announces RDMA to the other end of a port's
// cable: a TB5 port, a system with the driver, the switch on.
func offersRDMA(m *mac, port *scenario.Port) bool {
	return port.Capability == native.TB5 && m.spec.OSCapable && m.spec.RDMA == native.RDMAOn
}

func (w *World) rdma(m *mac) *native.RDMA {
	r := &native.RDMA{
		HardwareCapable: new(slices.ContainsFunc(m.spec.Ports, func(p scenario.Port) bool { return p.Capability == native.TB5 })),
		OSCapable:       new(m.spec.OSCapable), Switch: m.spec.RDMA,
		Devices: []native.RDMADevice{},
	}
	untold(&r.Unknown, r.Switch == "", "switch")
	for i := range m.spec.Ports {
		port := &m.spec.Ports[i]
		if own := m.iface(port.Interface); own != nil && own.present && offersRDMA(m, port) {
			r.Devices = append(r.Devices, w.device(m, own))
		}
	}
	return r
}

// device tells the device of a port's interface. Its port is active only when a
// peer at the other end has RDMA on as well and the link is up.
func (w *World) device(m *mac, own *iface) native.RDMADevice {
	d := native.RDMADevice{
		Name: "rdma_" + own.spec.Name, Interface: own.spec.Name,
		PortState: native.RDMAPortDown, GIDs: own.gids(), Limits: m.spec.RDMALimits,
		Unknown: native.Reasons{"mtu_bytes": native.ReasonNotInScenario},
	}
	if own.up && slices.ContainsFunc(w.wired(m, own), func(p plugAt) bool { return offersRDMA(p.mac, p.mac.port(p.iface.receptacle)) }) {
		d.PortState = native.RDMAPortActive
		d.SpeedBitsPerS = new(rdmaBitsPerS)
	} else {
		d.Unknown.Add("speed_bits_per_s", native.ReasonNotConnected)
	}
	return d
}

// gids is the device's table: the address that follows from the hardware
// address first, then one entry for each other address of the interface, IPv4
// before IPv6.
func (own *iface) gids() []native.GID {
	gids := []native.GID{{Address: eui64(own.hardware)}}
	for _, want4 := range []bool{true, false} {
		for _, a := range own.addresses {
			if address := a.Address.Addr(); a.ready && address.Is4() == want4 && address != gids[0].Address {
				gids = append(gids, native.GID{Index: len(gids), Address: netip.AddrFrom16(address.As16())})
			}
		}
	}
	return gids
}
