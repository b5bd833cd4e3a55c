package darwin

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"fulmen/native"
)

// editor changes the network's configuration.
type editor interface {
	// edit runs change with the stored configuration locked, and stores what it
	// did if it says so.
	edit(change func(edit) (commit bool, err error)) error
	// setKernelMember changes a bridge in the kernel alone.
	setKernelMember(bridge, iface string, member bool) error
	// bridgesKnown is nil where this system's bridges can be changed.
	bridgesKnown() error
}

// edit is a session with the stored configuration.
type edit interface {
	stored() (map[string]any, error)
	addService(iface, name string, address netip.Prefix) (id string, err error)
	removeService(id string) error
	setMember(bridge, iface string, member bool) error
}

// actions change the network, as native.NetworkActions has it.
type actions struct {
	machine *machine
	editor  editor
	root    bool // the system lets nobody else
}

// run does an action, and says in its error which it was.
func (a *actions) run(ctx context.Context, feature native.Feature, subject string, f func() error) error {
	err := a.machine.usable(ctx)
	if err == nil && !a.root {
		err = native.Unsupported(feature, native.ReasonNeedsRoot)
	}
	if err == nil {
		err = f()
	}
	return native.Acted(feature, subject, err)
}

// CreateService gives an interface a service with a manual address. While the
// stored configuration of a bridge has the interface the system refuses; that is
// [native.ErrStale].
func (a *actions) CreateService(ctx context.Context, spec native.ServiceSpec) (native.NetworkService, error) {
	service := native.NetworkService{
		Name: spec.Name, Interface: spec.Interface, Enabled: true, IPv4: native.OriginManual, Addresses: []netip.Prefix{spec.Address},
	}
	err := a.run(ctx, native.FeatureNetworkService, spec.Interface, func() error {
		if err := spec.Check(); err != nil {
			return err
		}
		return a.editor.edit(func(e edit) (bool, error) {
			in, err := storedOf(e)
			if err != nil {
				return false, err
			}
			if slices.ContainsFunc(servicesOf(in, new(native.Reasons)), func(s native.NetworkService) bool { return s.Interface == spec.Interface && s.Enabled }) {
				return false, native.ErrExists
			}
			if bridge := storedBridgeOf(in, spec.Interface); bridge != "" {
				return false, fmt.Errorf("it is a member of %s in the stored settings: %w", bridge, native.ErrStale)
			}
			service.ID, err = e.addService(spec.Interface, spec.Name, spec.Address)
			return err == nil, err
		})
	})
	if err != nil {
		return native.NetworkService{}, err
	}
	return service, nil
}

// DeleteService deletes a service that is as expected.
func (a *actions) DeleteService(ctx context.Context, expected native.NetworkService) error {
	return a.run(ctx, native.FeatureNetworkService, expected.Interface, func() error {
		return a.editor.edit(func(e edit) (bool, error) {
			in, err := storedOf(e)
			if err != nil {
				return false, err
			}
			of := listMap(in.stored, "services", expected.ID)
			if of == nil {
				return false, native.ErrNotFound
			}
			if !sameService(serviceOf(expected.ID, of), expected) {
				return false, native.ErrStale
			}
			err = e.removeService(expected.ID)
			return err == nil, err
		})
	})
}

// sameService compares services; no addresses and none told are alike.
func sameService(a, b native.NetworkService) bool {
	same := slices.Equal(a.Addresses, b.Addresses)
	a.Addresses, b.Addresses = nil, nil
	return same && reflect.DeepEqual(a, b)
}

// SetBridgeMember changes a bridge in the stored configuration, which configd
// then applies, and in the kernel where the two had disagreed.
func (a *actions) SetBridgeMember(ctx context.Context, bridge, iface string, member bool) error {
	return a.run(ctx, native.FeatureBridgeMembership, iface, func() error {
		if err := a.editor.bridgesKnown(); err != nil {
			return native.Unsupported(native.FeatureBridgeMembership, whyNot(err))
		}
		if member {
			if err := a.mayJoin(iface); err != nil {
				return err
			}
		}
		changed := false
		err := a.editor.edit(func(e edit) (bool, error) {
			in, err := storedOf(e)
			if err != nil {
				return false, err
			}
			of := listMap(in.stored, "virtual", "Bridge", bridge)
			if of == nil {
				return false, native.ErrNotFound
			}
			if slices.Contains(listTexts(of["Interfaces"]), iface) == member {
				return false, nil
			}
			if other := storedBridgeOf(in, iface); member && other != "" {
				return false, fmt.Errorf("it is a member of %s: %w", other, native.ErrExists)
			}
			err = e.setMember(bridge, iface, member)
			changed = err == nil
			return changed, err
		})
		if err != nil || changed {
			return err
		}
		// configd changes the kernel when the stored configuration changes, and does
		// nothing when it does not.
		members, err := a.machine.frameworks.BridgeMembers(bridge)
		if err != nil || slices.Contains(members, iface) == member {
			return err
		}
		return a.editor.setKernelMember(bridge, iface, member)
	})
}

// mayJoin refuses an interface that still has an IPv4 address: the kernel would.
func (a *actions) mayJoin(iface string) error {
	interfaces, err := a.machine.interfaces()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(interfaces, func(k kernelInterface) bool { return k.Name == iface })
	if i < 0 {
		return native.ErrNotFound
	}
	if slices.ContainsFunc(interfaces[i].Addresses, func(p netip.Prefix) bool { return p.Addr().Is4() }) {
		return fmt.Errorf("it still has an address: %w", native.ErrStale)
	}
	return nil
}

// storedOf reads the configuration under its lock.
func storedOf(e edit) (networkSources, error) {
	stored, err := e.stored()
	return networkSources{stored: stored}, err
}

// storedBridgeOf is the bridge whose stored configuration has an interface, or "".
func storedBridgeOf(in networkSources, iface string) string {
	for name, of := range listMap(in.stored, "virtual", "Bridge") {
		if slices.Contains(listTexts(listMap(of)["Interfaces"]), iface) {
			return name
		}
	}
	return ""
}

var _ native.NetworkActions = (*actions)(nil)
