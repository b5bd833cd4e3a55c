package native

import (
	"context"
	"fmt"
	"net/netip"
)

// NetworkActions are the only changes that Fulmen makes to a machine's network.
// Each changes one thing, stored and running, or nothing. None waits for its
// effect: that arrives as a hint. The caller records what was there first, with
// [NetworkChange], and puts it back in the opposite order; a port rejoins a
// bridge only after its service and its addresses are gone.
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

// ChangeKind is what a change did.
type ChangeKind string

// The kinds of change.
const (
	ChangeBridgeMember ChangeKind = "bridge_member"
	ChangeService      ChangeKind = "service"
)

// NetworkChange is one entry of an undo record: what was there, and what was
// put there instead. Undoing is three-way: only what still equals the after is
// put back to the before; anything else is the user's and is reported.
type NetworkChange struct {
	Kind      ChangeKind `json:"kind"`
	Interface string     `json:"interface"`
	At        Timestamp  `json:"at"`

	// Bridge and the memberships, for bridge_member.
	Bridge       string `json:"bridge,omitzero"`
	MemberBefore *bool  `json:"member_before,omitzero"`
	MemberAfter  *bool  `json:"member_after,omitzero"`

	// The service, for service; an absent before means that none was there.
	ServiceBefore *NetworkService `json:"service_before,omitzero"`
	ServiceAfter  *NetworkService `json:"service_after,omitzero"`
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
