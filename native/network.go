package native

import (
	"context"
	"fmt"
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
	// PortNumber is the Thunderbolt receptacle behind it.
	PortNumber *int `json:"receptacle,omitzero" native:"optional"`

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

// NetworkActions are the only changes that Fulmen makes to a machine's network.
// Each changes one thing, stored and running, or nothing. None waits for its
// effect: that arrives as a hint. The caller records what was there first, and
// puts it back in the opposite order; a port rejoins a bridge only after its
// service and its addresses are gone.
type NetworkActions interface {
	// CreateService gives an interface a service of its own with one manual
	// address and no router, so that it never becomes the primary one.
	// [ErrExists] when an enabled service for it is there already.
	CreateService(ctx context.Context, spec ServiceSpec) (NetworkService, error)

	// DeleteService deletes the service with that identifier if it is still as
	// given in expected; else [ErrStale], and nothing is touched.
	DeleteService(ctx context.Context, expected NetworkService) error

	// SetBridgeMember takes an interface out of a bridge or puts it back, in
	// the kernel and in the stored configuration. Being so already is success.
	SetBridgeMember(ctx context.Context, bridge, iface string, member bool) error
}

// ServiceSpec asks for a network service.
type ServiceSpec struct {
	Interface string `json:"interface"`
	Name      string `json:"name"` // shown to the user: "Fulmen Thunderbolt 2"
	// Address is this end's address in a network of four: a /30 in
	// 169.254.1.0 to 169.254.254.255, which no router forwards.
	Address netip.Prefix `json:"address"`
}

// Check returns an error that names what is wrong with the spec.
func (s ServiceSpec) Check() error {
	switch {
	case s.Interface == "":
		return fmt.Errorf("interface: missing")
	case s.Name == "":
		return fmt.Errorf("name: missing")
	case !s.Address.IsValid() || !s.Address.Addr().Is4() || s.Address.Bits() != 30:
		return fmt.Errorf("address: %s is not an IPv4 address with /30", s.Address)
	}
	// RFC 3927 reserves the first and the last 256 addresses of 169.254/16.
	octets := s.Address.Addr().As4()
	if octets[0] != 169 || octets[1] != 254 || octets[2] == 0 || octets[2] == 255 {
		return fmt.Errorf("address: %s is outside 169.254.1.0 to 169.254.254.255", s.Address)
	}
	if last := octets[3] % 4; last == 0 || last == 3 {
		return fmt.Errorf("address: %s is the network's or the broadcast address", s.Address)
	}
	return nil
}

// NoNetworkActions refuses everything with its reason.
type NoNetworkActions struct{ Reason Reason }

// CreateService is refused.
func (n NoNetworkActions) CreateService(context.Context, ServiceSpec) (NetworkService, error) {
	return NetworkService{}, Unsupported(FeatureNetworkService, n.Reason)
}

// DeleteService is refused.
func (n NoNetworkActions) DeleteService(context.Context, NetworkService) error {
	return Unsupported(FeatureNetworkService, n.Reason)
}

// SetBridgeMember is refused.
func (n NoNetworkActions) SetBridgeMember(context.Context, string, string, bool) error {
	return Unsupported(FeatureBridgeMembership, n.Reason)
}
