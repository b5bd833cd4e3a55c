package api

import (
	"net/netip"
	"slices"
)

// Network is the value of a network document: the node's interfaces and what
// is behind them.
type Network struct {
	// Interfaces are all interfaces, ordered by name.
	Interfaces []Interface `json:"interfaces"`
	// PrimaryInterface is the one with the default route.
	PrimaryInterface string `json:"primary_interface,omitempty"`
}

// Interface is one network interface.
type Interface struct {
	// Name is the system's, such as en5.
	Name string `json:"name"`
	// DisplayName is what the system shows to people, such as Thunderbolt 2.
	DisplayName string `json:"display_name,omitempty"`
	// Type is by what the system says it is, never by its addresses.
	Type InterfaceType `json:"type"`
	// Up says whether it is administratively up.
	Up bool `json:"up"`
	// Link says whether something answers at the other end; absent where the system does not tell.
	Link *bool `json:"link,omitempty"`
	// MTUBytes is the largest packet.
	MTUBytes *int64 `json:"mtu_bytes,omitempty"`
	// SpeedBitsPerS is what the interface negotiated.
	SpeedBitsPerS *int64 `json:"speed_bits_per_s,omitempty"`
	// Addresses are all its addresses.
	Addresses []InterfaceAddress `json:"addresses,omitempty"`
	// Bridge is the bridge it belongs to now, by the kernel.
	Bridge string `json:"bridge,omitempty"`
	// BridgeConfigured is the bridge it belongs to by the stored preferences.
	BridgeConfigured string `json:"bridge_configured,omitempty"`
	// Members are a bridge's members.
	Members []string `json:"members,omitempty"`
	// PortNumber is the Thunderbolt receptacle it belongs to.
	PortNumber PortNumber `json:"receptacle,omitempty"`
	// Service is the network service that configures it.
	Service *NetworkService `json:"service,omitempty"`
	// Expensive says that the system counts its traffic as costly.
	Expensive *bool `json:"expensive,omitempty"`
}

// Called is the interface for people, such as Ethernet (en0).
func (i Interface) Called() string {
	if i.DisplayName == "" || i.DisplayName == i.Name {
		return i.Name
	}
	return i.DisplayName + " (" + i.Name + ")"
}

// IsLinked reports whether the interface is switched on and nothing says that its link is down.
func (i Interface) IsLinked() bool { return i.Up && (i.Link == nil || *i.Link) }

// HasNetwork reports whether a network is behind the interface that has given it an
// address: those that it takes by itself prove none.
func (i Interface) HasNetwork() bool {
	return i.IsLinked() && slices.ContainsFunc(i.Addresses, func(a InterfaceAddress) bool {
		return !a.Address.Addr().Unmap().IsLinkLocalUnicast()
	})
}

// InterfaceAddress is one address of an interface.
type InterfaceAddress struct {
	// Address is the address with the length of its network, such as 169.254.3.1/30.
	Address netip.Prefix `json:"address"`
	// Origin is how it came about.
	Origin AddressOrigin `json:"origin,omitempty"`
	// Tentative says that the system still checks that it is unique.
	Tentative bool `json:"tentative,omitempty"`
}

// NetworkService is a configured network service of macOS, or its like.
type NetworkService struct {
	// ID is the system's identifier.
	ID string `json:"id"`
	// Name is what the system shows to people.
	Name string `json:"name"`
	// Active says whether it is switched on.
	Active bool `json:"active"`
	// Ours says that Fulmen made it.
	Ours bool `json:"ours,omitempty"`
}

// IsNetwork reports whether a network joins many machines there, and no cable two.
func (t InterfaceType) IsNetwork() bool { return t == InterfaceWiFi || t == InterfaceEthernet }
