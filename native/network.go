package native

import (
	"net/netip"
	"slices"
)

// InterfaceType is what an interface is made of, as the system says it. It is
// never guessed from an address.
type InterfaceType string

// The types.
const (
	InterfaceWiFi        InterfaceType = "wifi"
	InterfaceEthernet    InterfaceType = "ethernet"
	InterfaceThunderbolt InterfaceType = "thunderbolt"
	InterfaceBridge      InterfaceType = "bridge"
	InterfaceVPN         InterfaceType = "vpn"
	InterfaceLoopback    InterfaceType = "loopback"
	InterfaceUnknown     InterfaceType = "unknown"
)

// Network is every interface of the machine, its bridges, and the network
// services that configure them.
type Network struct {
	Interfaces []Interface `json:"interfaces,omitzero"`
	Bridges    []Bridge    `json:"bridges,omitzero"`
	// Services are the configured network services, in the user's order.
	// Linux has none and says so.
	Services []NetworkService `json:"services,omitzero"`
	// PrimaryInterface carries the default route; "" with a reason when offline.
	PrimaryInterface string `json:"primary_interface,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Interface returns the interface of that name.
func (n Network) Interface(name string) (Interface, bool) {
	i := slices.IndexFunc(n.Interfaces, func(i Interface) bool { return i.Name == name })
	if i < 0 {
		return Interface{}, false
	}
	return n.Interfaces[i], true
}

// BridgeOf returns the bridge that the interface is a member of, in the kernel
// or in the stored configuration.
func (n Network) BridgeOf(name string) (Bridge, bool) {
	i := slices.IndexFunc(n.Bridges, func(b Bridge) bool {
		return slices.Contains(b.KernelMembers, name) || slices.Contains(b.StoredMembers, name)
	})
	if i < 0 {
		return Bridge{}, false
	}
	return n.Bridges[i], true
}

// Interface is one network interface.
type Interface struct {
	Name string        `json:"name"`
	Type InterfaceType `json:"type"`
	// DisplayName is what the system shows to people ("Thunderbolt 2").
	DisplayName string `json:"display_name,omitzero" native:"optional"`
	// Index is the kernel's number of it, valid until it goes away.
	Index int `json:"index,omitzero"`
	// HardwareAddress is the MAC in colon form; it stays on the machine unless
	// a person exports it.
	HardwareAddress string             `json:"hardware_address,omitzero" native:"optional"`
	Addresses       []InterfaceAddress `json:"addresses,omitzero"`
	// Up is true when it is switched on, Link when something answers at the
	// other end.
	Up       *bool  `json:"up,omitzero"`
	Link     *bool  `json:"link,omitzero"`
	MTUBytes *int64 `json:"mtu_bytes,omitzero"`
	// Expensive is true when the system counts its traffic as costly.
	Expensive *bool `json:"expensive,omitzero"`
	// SpeedBitsPerS is what the driver says it negotiated; for Thunderbolt the
	// port's own negotiated link is the better number.
	SpeedBitsPerS *int64 `json:"speed_bits_per_s,omitzero"`
	// Receptacle is the Thunderbolt receptacle behind it.
	Receptacle *int `json:"receptacle,omitzero" native:"optional"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// AddressOrigin is how an address came to an interface.
type AddressOrigin string

// The origins.
const (
	OriginManual    AddressOrigin = "manual"
	OriginDHCP      AddressOrigin = "dhcp"
	OriginLinkLocal AddressOrigin = "link_local" // self-assigned; may come late and change
	OriginAutomatic AddressOrigin = "automatic"  // IPv6 router advertisements
	OriginUnknown   AddressOrigin = "unknown"
)

// InterfaceAddress is one address with its prefix length. IPv6 link-local
// addresses are without zone here: the interface is known.
type InterfaceAddress struct {
	Address netip.Prefix  `json:"address"`
	Origin  AddressOrigin `json:"origin"`
	// Tentative is true while the system still checks that it is unique.
	Tentative bool `json:"tentative,omitzero"`
}

// Bridge is a software bridge. What the kernel runs and what is stored for the
// next start can differ, so both are told.
type Bridge struct {
	Name          string   `json:"name"`
	KernelMembers []string `json:"kernel_members,omitzero"`
	StoredMembers []string `json:"stored_members,omitzero"`
	Active        *bool    `json:"active,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Disagree reports whether kernel and stored membership are both known and differ.
func (b Bridge) Disagree() bool {
	if b.KernelMembers == nil || b.StoredMembers == nil {
		return false
	}
	return !slices.Equal(slices.Sorted(slices.Values(b.KernelMembers)), slices.Sorted(slices.Values(b.StoredMembers)))
}

// NetworkService is one configured service: an interface with the way it gets
// its addresses.
type NetworkService struct {
	// ID is the system's own identifier; services are recognised by it, never by name.
	ID        string        `json:"id"`
	Name      string        `json:"name"`
	Interface string        `json:"interface"`
	Enabled   bool          `json:"enabled"`
	IPv4      AddressOrigin `json:"ipv4"` // method; unknown when off
	// Addresses are the configured ones (method manual).
	Addresses []netip.Prefix `json:"addresses,omitzero"`
}
