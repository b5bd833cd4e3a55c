//go:build cgo && linux && darwinsim

package simmac

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"

	"fulmen/native"
	"fulmen/native/darwin"
)

// applied takes what native/darwin has stored to the Mac that is followed, as
// configd takes it to the kernel.
func (m *Mac) applied() {
	stored, err := darwin.Simulated{Machine: m.Machine}.Stored()
	if err != nil {
		return
	}
	s, err := m.source.Facts.Snapshot(context.Background(), native.AreaNetwork)
	if err != nil || s.Network == nil {
		m.fail(err)
		return
	}
	m.fail(errors.Join(m.applyServices(*s.Network, stored), m.applyBridges(*s.Network, stored)))
}

// fail keeps the first error of what runs by itself, for Close to return.
func (m *Mac) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failed == nil {
		m.failed = err
	}
}

func dictionary(v any, path ...string) map[string]any {
	d, _ := v.(map[string]any)
	for _, key := range path {
		d, _ = d[key].(map[string]any)
	}
	return d
}

func (m *Mac) applyServices(have native.Network, stored map[string]any) error {
	services := dictionary(stored, "services")
	var err error
	for _, s := range have.Services {
		if services[m.alias(s.ID)] == nil {
			err = errors.Join(err, m.source.Network.DeleteService(context.Background(), s))
		}
	}
	for id, of := range services {
		if slices.ContainsFunc(have.Services, func(s native.NetworkService) bool { return m.alias(s.ID) == id }) {
			continue
		}
		ipv4 := dictionary(of, "IPv4")
		addresses, _ := ipv4["Addresses"].([]any)
		masks, _ := ipv4["SubnetMasks"].([]any)
		if len(addresses) != 1 || len(masks) != 1 {
			err = errors.Join(err, errors.New("a service without its one address"))
			continue
		}
		address, parseErr := netip.ParseAddr(addresses[0].(string))
		bits, _ := net.IPMask(net.ParseIP(masks[0].(string)).To4()).Size()
		name, _ := dictionary(of)["UserDefinedName"].(string)
		device, _ := dictionary(of, "Interface")["DeviceName"].(string)
		made, makeErr := m.source.Network.CreateService(context.Background(), native.ServiceSpec{
			Interface: device, Name: name, Address: netip.PrefixFrom(address, bits),
		})
		err = errors.Join(err, parseErr, makeErr)
		m.mu.Lock()
		m.aliases[made.ID] = id
		m.mu.Unlock()
	}
	return err
}

// alias is the identifier that native/darwin knows a service by.
func (m *Mac) alias(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if alias := m.aliases[id]; alias != "" {
		return alias
	}
	return id
}

// aliased is a network whose services have the identifiers that native/darwin
// gave them.
func (m *Mac) aliased(n native.Network) native.Network {
	n.Services = slices.Clone(n.Services)
	for i := range n.Services {
		n.Services[i].ID = m.alias(n.Services[i].ID)
	}
	return n
}

func (m *Mac) applyBridges(have native.Network, stored map[string]any) error {
	var err error
	for _, b := range have.Bridges {
		list, _ := dictionary(stored, "virtual", "Bridge", b.Name)["Interfaces"].([]any)
		for _, i := range have.Interfaces {
			member := slices.Contains(list, any(i.Name))
			if member != slices.Contains(b.StoredMembers, i.Name) {
				err = errors.Join(err, m.source.Network.SetBridgeMember(context.Background(), b.Name, i.Name, member))
			}
		}
	}
	return err
}
