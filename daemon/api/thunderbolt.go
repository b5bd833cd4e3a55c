package api

// Thunderbolt is the value of a thunderbolt document, named by its receptacle:
// one socket of the case and the tree that hangs on it.
type Thunderbolt struct {
	// PortNumber is the socket's number, as in the document's name.
	PortNumber PortNumber `json:"receptacle"`
	// Place is where it is on the case, for people, such as "back, second from the left".
	Place string `json:"place,omitempty"`
	// BesideEthernet says that it is the one next to the Ethernet socket.
	BesideEthernet *bool `json:"beside_ethernet,omitempty"`
	// DomainUUID is this end's Thunderbolt domain. It matches ends of cables and names nothing.
	DomainUUID string `json:"domain_uuid,omitempty"`
	// Capability is the newest generation that the port can do.
	Capability ThunderboltGeneration `json:"capability,omitempty"`
	// Interface is the network interface that belongs to the port, such as en5.
	Interface string `json:"interface,omitempty"`
	// Connected says whether anything is plugged in.
	Connected *bool `json:"connected,omitempty"`
	// Negotiated is what the port agreed on with the other end of the cable.
	Negotiated *ThunderboltSpeed `json:"negotiated,omitempty"`
	// Hubs are all hubs and docks below the port, each after the one it hangs on.
	Hubs []ThunderboltHub `json:"hubs,omitempty"`
	// Peers are the machines at the ends of the tree, several where a hub splits it.
	Peers []ThunderboltPeer `json:"peers,omitempty"`
}

// ThunderboltSpeed is what two ends of one cable negotiated.
type ThunderboltSpeed struct {
	// TxBitsPerS is the speed away from this port.
	TxBitsPerS int64 `json:"tx_bits_per_s"`
	// RxBitsPerS is the speed towards this port.
	RxBitsPerS int64 `json:"rx_bits_per_s"`
	// TxLanes counts the lanes away from this port, 1 to 3.
	TxLanes int `json:"tx_lanes,omitempty"`
	// RxLanes counts the lanes towards this port, 1 to 3.
	RxLanes int `json:"rx_lanes,omitempty"`
	// Generation is the one that the lanes run at.
	Generation ThunderboltGeneration `json:"generation,omitempty"`
}

// ThunderboltHub is a hub or dock. It has no domain UUID.
type ThunderboltHub struct {
	// Route is its place in the tree, unique below the port.
	Route string `json:"route"`
	// Parent is the route of the hub it hangs on; empty where it hangs on the port.
	Parent string `json:"parent,omitempty"`
	// Vendor is its maker.
	Vendor string `json:"vendor,omitempty"`
	// Name is its product name.
	Name string `json:"name,omitempty"`
	// Negotiated is the speed of its own upstream cable, tx being towards it. Absent where Parent is empty: it is the port's.
	Negotiated *ThunderboltSpeed `json:"negotiated,omitempty"`
}

// ThunderboltPeer is another machine that the port sees.
type ThunderboltPeer struct {
	// DomainUUID is the peer's domain on its own port.
	DomainUUID string `json:"domain_uuid"`
	// Name is what the peer calls itself.
	Name string `json:"name,omitempty"`
	// Vendor is the peer's maker.
	Vendor string `json:"vendor,omitempty"`
	// Hub is the route of the hub it hangs on; empty where the cable is direct.
	Hub string `json:"hub,omitempty"`
	// Negotiated is the speed of the last hop, tx being towards the peer. Absent where Hub is empty: it is the port's.
	Negotiated *ThunderboltSpeed `json:"negotiated,omitempty"`
	// Services are the protocols that the peer offers over the cable; absent where not told.
	Services []ThunderboltService `json:"services,omitzero"`
}
