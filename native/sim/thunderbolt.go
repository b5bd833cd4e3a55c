package sim

import (
	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// thunderbolt tells every port of a Mac as its registry would.
func (w *World) thunderbolt(m *mac) *native.Thunderbolt {
	t := &native.Thunderbolt{Ports: make([]native.Port, 0, len(m.spec.Ports))}
	for i := range m.spec.Ports {
		t.Ports = append(t.Ports, w.portFacts(m, &m.spec.Ports[i]))
	}
	return t
}

func (w *World) portFacts(m *mac, spec *scenario.Port) native.Port {
	t := w.below(m, spec.Receptacle)
	p := native.Port{
		Receptacle: spec.Receptacle, Place: spec.Place, BesideEthernet: new(spec.BesideEthernet),
		DomainUUID: spec.DomainUUID, Capability: spec.Capability, Negotiated: new(t.link),
		Hubs: make([]native.Hub, 0, len(t.hubs)), Peers: make([]native.Peer, 0, len(t.peers)),
		Interface: spec.Interface, Status: native.PortEmpty,
	}
	for _, h := range t.hubs {
		p.Status = native.PortDevice
		hub := native.Hub{Route: h.route, Parent: h.parent, Vendor: h.spec.Vendor, Name: h.spec.Product, Negotiated: new(h.link)}
		untold(&hub.Unknown, hub.Vendor == "", "vendor")
		untold(&hub.Unknown, hub.Name == "", "name")
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
		untold(&p.Unknown, spec.Interface == "", "interface")
	}
	untold(&p.Unknown, p.Place == "", "place")
	untold(&p.Unknown, p.Capability == "", "capability")
	return p
}

func peerFacts(other peerAt) native.Peer {
	// A Mac announces its model identifier, not the name that its owner gave it.
	peer := native.Peer{
		DomainUUID: other.port.DomainUUID, Name: other.mac.spec.Identity.Model, Vendor: "Apple Inc.",
		Hub: other.hub, Negotiated: new(other.link),
		Services: []native.PeerService{{ProtocolID: native.ProtocolIP, Version: 1}},
	}
	if offersRDMA(other.mac, other.port) {
		peer.Services = append(peer.Services, native.PeerService{ProtocolID: native.ProtocolRDMA, Version: 1})
	}
	untold(&peer.Unknown, peer.Name == "", "name")
	return peer
}

// untold notes that a scenario does not say a field.
func untold(unknown *native.Reasons, missing bool, field string) {
	if missing {
		unknown.Add(field, native.ReasonNotInScenario)
	}
}
