package nativetest

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"fulmen/native"
)

// CreateService adds a service and its address to the interface.
func (m *Machine) CreateService(_ context.Context, spec native.ServiceSpec) (native.NetworkService, error) {
	if err := spec.Check(); err != nil {
		return native.NetworkService{}, fail(native.FeatureNetworkService, spec.Interface, err)
	}
	service, err := m.createService(spec)
	if err != nil {
		return native.NetworkService{}, fail(native.FeatureNetworkService, spec.Interface, err)
	}
	m.hint("memory.service", spec.Interface, native.AreaNetwork)
	return service, nil
}

func (m *Machine) createService(spec native.ServiceSpec) (native.NetworkService, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	iface, err := m.iface(spec.Interface)
	if err != nil {
		return native.NetworkService{}, err
	}
	for _, s := range m.facts.Network.Services {
		if s.Interface == spec.Interface && s.Enabled {
			return native.NetworkService{}, native.ErrExists
		}
	}
	m.services++
	service := native.NetworkService{
		ID: fmt.Sprintf("service-%d", m.services), Name: spec.Name, Interface: spec.Interface,
		Enabled: true, IPv4: native.OriginManual, Addresses: []netip.Prefix{spec.Address},
	}
	m.facts.Network.Services = append(m.facts.Network.Services, service)
	iface.Addresses = append(iface.Addresses, native.InterfaceAddress{Address: spec.Address, Origin: native.OriginManual})
	return service, nil
}

// DeleteService removes a service and its addresses if it is as expected.
func (m *Machine) DeleteService(_ context.Context, expected native.NetworkService) error {
	if err := m.deleteService(expected); err != nil {
		return fail(native.FeatureNetworkService, expected.ID, err)
	}
	m.hint("memory.service", expected.Interface, native.AreaNetwork)
	return nil
}

func (m *Machine) deleteService(expected native.NetworkService) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	iface, err := m.iface(expected.Interface)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(m.facts.Network.Services, func(s native.NetworkService) bool { return s.ID == expected.ID })
	if i < 0 {
		return native.ErrNotFound
	}
	if !reflect.DeepEqual(m.facts.Network.Services[i], expected) {
		return native.ErrStale
	}
	m.facts.Network.Services = slices.Delete(m.facts.Network.Services, i, i+1)
	iface.Addresses = slices.DeleteFunc(iface.Addresses, func(a native.InterfaceAddress) bool {
		return slices.Contains(expected.Addresses, a.Address)
	})
	return nil
}

// SetBridgeMember changes both memberships. As in a real kernel an interface
// with an IPv4 address cannot join.
func (m *Machine) SetBridgeMember(_ context.Context, bridge, iface string, member bool) error {
	if err := m.setBridgeMember(bridge, iface, member); err != nil {
		return fail(native.FeatureBridgeMembership, iface, err)
	}
	m.hint("memory.bridge", iface, native.AreaNetwork)
	return nil
}

func (m *Machine) setBridgeMember(bridge, name string, member bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	iface, err := m.iface(name)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(m.facts.Network.Bridges, func(b native.Bridge) bool { return b.Name == bridge })
	if i < 0 {
		return native.ErrNotFound
	}
	if member && slices.ContainsFunc(iface.Addresses, func(a native.InterfaceAddress) bool { return a.Address.Addr().Is4() }) {
		return fmt.Errorf("the kernel takes no member that has an address: %w", native.ErrStale)
	}
	b := &m.facts.Network.Bridges[i]
	b.KernelMembers = withMember(b.KernelMembers, name, member)
	b.StoredMembers = withMember(b.StoredMembers, name, member)
	return nil
}

// iface returns the interface for editing; the caller holds mu.
func (m *Machine) iface(name string) (*native.Interface, error) {
	if m.closed {
		return nil, native.ErrClosed
	}
	if m.facts.Network != nil {
		for i := range m.facts.Network.Interfaces {
			if m.facts.Network.Interfaces[i].Name == name {
				return &m.facts.Network.Interfaces[i], nil
			}
		}
	}
	return nil, native.ErrNotFound
}

func withMember(members []string, name string, member bool) []string {
	members = slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == name })
	if member {
		members = append(members, name)
	}
	slices.Sort(members)
	return members
}

func fail(action native.Feature, subject string, err error) error {
	return &native.ActionError{Action: action, Subject: subject, Err: err}
}
