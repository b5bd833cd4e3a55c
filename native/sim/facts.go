package sim

import (
	"context"
	"net/netip"
	"slices"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// Snapshot computes the areas from the state of the world.
func (h *handle) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return native.Snapshot{}, err
	}
	w := h.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.ended {
		return native.Snapshot{}, native.ErrClosed
	}
	return w.snapshotLocked(h.mac, areas), nil
}

// Capabilities answers alike for every Mac: what a scenario does not say is a
// gap of its facts, not of the platform.
func (h *handle) Capabilities(ctx context.Context) (native.Capabilities, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c := native.Capabilities{}
	for _, area := range native.AllAreas() {
		c.Yes(native.FactsFeature(area), native.HintsFeature(area))
	}
	c.Yes(native.FeatureClock, native.FeatureDiscovery, native.FeaturePowerNotices, native.FeatureKeepAwake,
		native.FeatureNetworkService, native.FeatureBridgeMembership)
	c.No(native.ReasonNoPlatform.With("the daemon of a simulated Mac uses a supervisor of its own"), native.FeatureSupervisor)
	return c, nil
}

// snapshotLocked reads areas of a Mac.
func (w *World) snapshotLocked(m *mac, areas []native.Area) native.Snapshot {
	s := native.Snapshot{At: native.Stamp(w.clock.Now()), Platform: platformName, Simulated: true}
	for _, area := range areas {
		if m.silent[area] {
			s.Unknown.Add(string(area), native.ReasonSourceGone.With("the scenario has silenced it"))
			continue
		}
		switch area {
		case native.AreaIdentity:
			s.Identity = w.identity(m)
		case native.AreaMemory:
			s.Memory = w.memory(m)
		case native.AreaSystem:
			s.System = w.system(m)
		case native.AreaNetwork:
			s.Network = w.networkFacts(m)
		case native.AreaThunderbolt:
			s.Thunderbolt = w.thunderbolt(m)
		case native.AreaRDMA:
			s.RDMA = w.rdma(m)
		default:
			s.Unknown.Add(string(area), native.ReasonNoPlatform)
		}
	}
	return s
}

// thunderbolt tells every port of a Mac as its registry would.
func (w *World) thunderbolt(m *mac) *native.Thunderbolt {
	t := &native.Thunderbolt{Ports: make([]native.Port, 0, len(m.spec.Ports))}
	for i := range m.spec.Ports {
		t.Ports = append(t.Ports, w.portFacts(m, &m.spec.Ports[i]))
	}
	return t
}

func (w *World) portFacts(m *mac, spec *scenario.Port) native.Port {
	t := w.below(m, spec.PortNumber)
	p := native.Port{
		PortNumber: spec.PortNumber, Place: spec.Place, BesideEthernet: new(spec.BesideEthernet),
		DomainUUID: spec.DomainUUID, Capability: spec.Capability, Negotiated: new(t.link),
		Hubs: make([]native.Hub, 0, len(t.hubs)), Peers: make([]native.Peer, 0, len(t.peers)),
		Interface: spec.Interface, Status: native.PortEmpty,
	}
	for _, h := range t.hubs {
		p.Status = native.PortDevice
		hub := native.Hub{Route: h.route.String(), Parent: h.parent.String(), Vendor: h.spec.Vendor, Name: h.spec.Product, Negotiated: new(h.link)}
		unreported(&hub.Unknown, hub.Vendor == "", "vendor")
		unreported(&hub.Unknown, hub.Name == "", "name")
		p.Hubs = append(p.Hubs, hub)
	}
	for _, other := range t.peers {
		p.Status = native.PortPeer
		p.Peers = append(p.Peers, peerFacts(other))
	}
	if i := m.iface(spec.Interface); i != nil && !i.present {
		p.Interface = ""
		p.Unknown.Add("interface", native.ReasonSourceGone)
	} else {
		unreported(&p.Unknown, spec.Interface == "", "interface")
	}
	unreported(&p.Unknown, p.Place == "", "place")
	unreported(&p.Unknown, p.Capability == "", "capability")
	return p
}

func peerFacts(other peerAt) native.Peer {
	// A Mac announces its model identifier, not the name that its owner gave it.
	peer := native.Peer{
		DomainUUID: other.port.DomainUUID, Name: other.mac.spec.Identity.Model, Vendor: "Apple Inc.",
		Hub: other.hub.String(), Negotiated: new(other.link),
		Services: []native.PeerService{{ProtocolID: native.ProtocolIP, Version: 1}},
	}
	if offersRDMA(other.mac, other.port) {
		peer.Services = append(peer.Services, native.PeerService{ProtocolID: native.ProtocolRDMA, Version: 1})
	}
	unreported(&peer.Unknown, peer.Name == "", "name")
	return peer
}

// unreported notes that a scenario does not say a field.
func unreported(unknown *native.Reasons, missing bool, field string) {
	if missing {
		unknown.Add(field, native.ReasonNotInScenario)
	}
}

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
	unreported(&r.Unknown, r.Switch == "", "switch")
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
	if own.up && slices.ContainsFunc(w.wired(m, own), func(p plugAt) bool { return offersRDMA(p.mac, p.mac.port(p.iface.portNumber)) }) {
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
