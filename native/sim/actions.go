package sim

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"time"

	"fulmen/native"
	"fulmen/native/sim/scenario"
)

// AddressLingers is how long an address stays on its interface after its
// service was deleted, as measured on macOS.
const AddressLingers = 500 * time.Millisecond

// CreateService gives an interface a service with a manual address. As on macOS
// it is refused with [native.ErrStale] while a bridge's stored configuration has
// the interface.
func (h *handle) CreateService(ctx context.Context, spec native.ServiceSpec) (native.NetworkService, error) {
	var service native.NetworkService
	err := h.act(ctx, native.FeatureNetworkService, spec.Interface, "sim.service", func() (err error) {
		service, err = h.createService(spec)
		return err
	})
	return service, err
}

func (h *handle) createService(spec native.ServiceSpec) (native.NetworkService, error) {
	m := h.mac
	if err := spec.Check(); err != nil {
		return native.NetworkService{}, err
	}
	i := m.iface(spec.Interface)
	if i == nil || !i.present {
		return native.NetworkService{}, native.ErrNotFound
	}
	if slices.ContainsFunc(m.services, func(s native.NetworkService) bool { return s.Interface == spec.Interface && s.Enabled }) {
		return native.NetworkService{}, native.ErrExists
	}
	if b := m.bridgeStored(spec.Interface); b != nil {
		return native.NetworkService{}, fmt.Errorf("it is a member of %s in the stored settings: %w", b.name, native.ErrStale)
	}
	service := native.NetworkService{
		ID:   scenario.MakeUUID(h.world.scenario.Name, m.spec.Name, "created", strconv.Itoa(m.nextService)),
		Name: spec.Name, Interface: spec.Interface, Enabled: true,
		IPv4: native.OriginManual, Addresses: []netip.Prefix{spec.Address},
	}
	m.nextService++
	m.services = append(m.services, service)
	i.addresses = slices.DeleteFunc(i.addresses, func(a address) bool { return a.Address == spec.Address })
	i.addresses = append(i.addresses, address{
		InterfaceAddress: native.InterfaceAddress{Address: spec.Address, Origin: native.OriginManual}, ready: true,
	})
	service.Addresses = slices.Clone(service.Addresses)
	return service, nil
}

// DeleteService deletes a service that is as expected. The interface's IPv4
// addresses go [AddressLingers] later, unless another service of it is left.
func (h *handle) DeleteService(ctx context.Context, expected native.NetworkService) error {
	return h.act(ctx, native.FeatureNetworkService, expected.Interface, "sim.service", func() error {
		return h.deleteService(expected)
	})
}

func (h *handle) deleteService(expected native.NetworkService) error {
	m := h.mac
	at := slices.IndexFunc(m.services, func(s native.NetworkService) bool { return s.ID == expected.ID })
	if at < 0 {
		return native.ErrNotFound
	}
	found := m.services[at]
	sameAddresses := slices.Equal(found.Addresses, expected.Addresses)
	found.Addresses, expected.Addresses = nil, nil // absent and empty are alike
	if !sameAddresses || !reflect.DeepEqual(found, expected) {
		return native.ErrStale
	}
	served := m.services[at].Addresses
	m.services = slices.Delete(slices.Clone(m.services), at, at+1)
	i := m.iface(expected.Interface)
	if i == nil {
		return nil
	}
	alone := !slices.ContainsFunc(m.services, func(s native.NetworkService) bool { return s.Interface == expected.Interface })
	for k := range i.addresses {
		a := &i.addresses[k]
		a.doomed = a.doomed || alone && a.Address.Addr().Is4() || slices.Contains(served, a.Address)
	}
	h.world.afterLocked(AddressLingers, "sim.address", func() {
		i.addresses = slices.DeleteFunc(i.addresses, func(a address) bool { return a.doomed })
	})
	return nil
}

// SetBridgeMember changes the running and the stored bridge. An interface that
// has an IPv4 address is refused with [native.ErrStale], one that is in another
// bridge with [native.ErrExists].
func (h *handle) SetBridgeMember(ctx context.Context, bridge, iface string, member bool) error {
	return h.act(ctx, native.FeatureBridgeMembership, iface, "sim.bridge", func() error {
		i := h.mac.iface(iface)
		if i == nil || !i.present {
			return native.ErrNotFound
		}
		return h.mac.setMember(bridge, i, member)
	})
}

// act runs an action, and says in its error which it was.
func (h *handle) act(ctx context.Context, action native.Feature, subject, source string, f func() error) error {
	err := ctx.Err()
	if err == nil {
		err = h.begin(source, func() error {
			if h.mac.held != nil {
				return h.mac.held
			}
			return f()
		})
	}
	return native.Acted(action, subject, err)
}
