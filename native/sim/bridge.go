package sim

import (
	"fmt"
	"slices"

	"fulmen/native"
)

// setMember takes an interface out of a bridge or puts it in, running and
// stored. Being so already is success. As on macOS an interface with an IPv4
// address cannot join, nor one that is in another bridge.
func (m *mac) setMember(name string, i *iface, member bool) error {
	b := m.bridge(name)
	if b == nil {
		return fmt.Errorf("no bridge %q: %w", name, native.ErrNotFound)
	}
	if !member || slices.Contains(b.kernel, i.spec.Name) && slices.Contains(b.stored, i.spec.Name) {
		b.setMember(i.spec.Name, member)
		return nil
	}
	if m.bridge(i.spec.Name) != nil {
		return fmt.Errorf("%s is a bridge itself: %w", i.spec.Name, native.ErrExists)
	}
	if other := m.bridgeOf(i.spec.Name); other != nil && other != b {
		return fmt.Errorf("%s is in %s: %w", i.spec.Name, other.name, native.ErrExists)
	}
	if slices.ContainsFunc(i.addresses, func(a address) bool { return a.ready && a.Address.Addr().Is4() }) {
		return fmt.Errorf("the kernel takes no member that has an address: %w", native.ErrStale)
	}
	b.setMember(i.spec.Name, true)
	return nil
}

func (b *bridge) setMember(name string, member bool) {
	for _, list := range []*[]string{&b.kernel, &b.stored} {
		*list = slices.DeleteFunc(*list, func(other string) bool { return other == name })
		if member {
			*list = append(*list, name)
			slices.Sort(*list)
		}
	}
}

// bridgeStored returns the bridge whose stored configuration has the interface.
func (m *mac) bridgeStored(iface string) *bridge {
	i := slices.IndexFunc(m.bridges, func(b *bridge) bool { return slices.Contains(b.stored, iface) })
	if i < 0 {
		return nil
	}
	return m.bridges[i]
}
