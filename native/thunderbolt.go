package native

import (
	"fmt"
	"slices"
)

// ProtocolIP and ProtocolRDMA are the numbers under which a computer offers
// networking and RDMA to the one at the other end of a Thunderbolt cable. The
// number is what counts: the key printed beside it changed between systems.
const (
	ProtocolIP   uint32 = 1
	ProtocolRDMA uint32 = 64087
)

// PortStatus is what a receptacle holds.
type PortStatus string

// The states. A trained link alone proves nothing: an idle port can keep its
// lanes trained, so these follow what is attached.
const (
	PortEmpty  PortStatus = "empty"
	PortDevice PortStatus = "device" // a hub, dock or disk, and no computer behind it
	PortPeer   PortStatus = "peer"   // a computer, directly or through hubs
)

// Thunderbolt is every receptacle of the machine.
type Thunderbolt struct {
	Ports []Port `json:"ports,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Port returns the port of that receptacle.
func (t Thunderbolt) Port(receptacle int) (Port, bool) {
	i := slices.IndexFunc(t.Ports, func(p Port) bool { return p.Receptacle == receptacle })
	if i < 0 {
		return Port{}, false
	}
	return t.Ports[i], true
}

// Port is one receptacle: one controller, one domain.
type Port struct {
	// Receptacle is the number printed by the system, from 1.
	Receptacle int `json:"receptacle"`
	// Place is where it is on the case, as the device tree says ("back-left").
	Place string `json:"place,omitzero"`
	// BesideEthernet is true for the one next to the Ethernet socket, which
	// some report not to carry RDMA on a Mac Studio.
	BesideEthernet *bool `json:"beside_ethernet,omitzero" native:"optional"`
	// DomainUUID is this port's own domain. It matches ends of cables and
	// identifies nothing beyond that.
	DomainUUID string `json:"domain_uuid,omitzero"`
	// Capability is the best the port can do.
	Capability ThunderboltVersion `json:"capability,omitzero"`
	Status     PortStatus         `json:"status,omitzero"`
	// Negotiated is the link with whatever is plugged in directly.
	Negotiated *Link `json:"negotiated,omitzero"`
	// Hubs are the hubs, docks and other routers below the port, at any depth.
	Hubs []Hub `json:"hubs,omitzero"`
	// Peers are the computers below it; several behind one hub are possible.
	Peers []Peer `json:"peers,omitzero"`
	// Interface is the port's network interface ("en5"), read and never computed.
	Interface string `json:"interface,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Hub is a hub, dock or other router between a port and what hangs below it.
type Hub struct {
	// Route is its route string in hexadecimal: one byte per hop, the lowest
	// byte nearest the host ("0x301" is port 3 of the hub on port 1).
	Route string `json:"route"`
	// Parent is the route of the hub above it; "" when that is the host.
	Parent string `json:"parent,omitzero" native:"optional"`
	Vendor string `json:"vendor,omitzero"`
	Name   string `json:"name,omitzero"` // of the product
	// Negotiated is its upstream link, transmit meaning away from this machine.
	Negotiated *Link `json:"negotiated,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Peer is a computer at the other end.
type Peer struct {
	// DomainUUID is the peer port's own domain.
	DomainUUID string `json:"domain_uuid,omitzero"`
	// Name is what the peer announces: a Mac's model identifier, a Linux
	// machine's host name.
	Name   string `json:"name,omitzero"`
	Vendor string `json:"vendor,omitzero"`
	// Hub is the route of the last hub before the peer; "" when direct.
	Hub string `json:"hub,omitzero" native:"optional"`
	// Negotiated is the last hop, transmit meaning towards the peer. When
	// direct it is the port's own.
	Negotiated *Link         `json:"negotiated,omitzero"`
	Services   []PeerService `json:"services,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// PeerService is one protocol that the peer offers over the cable.
type PeerService struct {
	ProtocolID uint32 `json:"protocol_id"`
	Version    uint32 `json:"version"`
}

// Offers reports whether the peer offers the protocol, and whether its services
// are known at all.
func (p Peer) Offers(protocol uint32) (offered, known bool) {
	if p.Services == nil {
		return false, false
	}
	return slices.ContainsFunc(p.Services, func(s PeerService) bool { return s.ProtocolID == protocol }), true
}

// Chain returns the hubs between the port and the peer, nearest the port
// first. A route that names no hub, or a circle, is an error: the facts were
// torn or malformed.
func (p Port) Chain(peer Peer) ([]Hub, error) {
	var chain []Hub
	for route := peer.Hub; route != ""; {
		if len(chain) == len(p.Hubs) {
			return nil, fmt.Errorf("receptacle %d: the hubs above route %s form a circle", p.Receptacle, peer.Hub)
		}
		i := slices.IndexFunc(p.Hubs, func(d Hub) bool { return d.Route == route })
		if i < 0 {
			return nil, fmt.Errorf("receptacle %d: no hub at route %s", p.Receptacle, route)
		}
		chain = append(chain, p.Hubs[i])
		route = p.Hubs[i].Parent
	}
	slices.Reverse(chain)
	return chain, nil
}

// PathSpeed returns the speed of the slowest hop to the peer, each way. It is
// false when any hop's speed is unknown, for a guess would be worse.
func (p Port) PathSpeed(peer Peer) (LinkSpeed, bool) {
	hubs, err := p.Chain(peer)
	if err != nil || p.Negotiated == nil || peer.Negotiated == nil {
		return LinkSpeed{}, false
	}
	speed := p.Negotiated.Speed().Min(peer.Negotiated.Speed())
	for _, hub := range hubs {
		if hub.Negotiated == nil {
			return LinkSpeed{}, false
		}
		speed = speed.Min(hub.Negotiated.Speed())
	}
	return speed, true
}
