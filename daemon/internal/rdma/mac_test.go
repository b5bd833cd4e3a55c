package rdma

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"fulmen/native"
)

var errDead = errors.New("the process is gone")

// mac is the network of a Mac in a test: what the system does with it, and nothing
// of Fulmen. It goes on while daemons come and go.
type mac struct {
	mu           sync.Mutex
	members      map[string][]string // of bridges, stored and in the kernel
	services     []native.NetworkService
	address      map[string][]netip.Prefix
	made         int
	unreceived   int   // how often an answer is lost from now on
	stale        int   // how often the configuration is somebody else's from now on
	mute         bool  // addresses do not come
	unresponsive bool  // RDMA is off
	blind        error // what a look ends with; nil: it sees
	changed      func()
}

func newMac() *mac {
	return &mac{members: map[string][]string{"bridge0": {"en1", "en2", "en3"}}, address: map[string][]netip.Prefix{}, changed: func() {}}
}

// follow sets who hears of every change.
func (m *mac) follow(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changed = f
}

// notify hints after a change.
func (m *mac) notify() {
	m.mu.Lock()
	changed := m.changed
	m.mu.Unlock()
	changed()
}

// picture is all that could be left behind.
func (m *mac) picture() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := fmt.Sprint(m.members)
	for _, s := range m.services {
		text += fmt.Sprintf(" %s/%s%v", s.Name, s.Interface, s.Addresses)
	}
	return text
}

// Snapshot is the Facts'.
func (m *mac) Snapshot(context.Context, ...native.Area) (native.Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blind != nil {
		return native.Snapshot{}, m.blind
	}
	n, t, r := &native.Network{}, &native.Thunderbolt{}, &native.RDMA{}
	for i, name := range []string{"en1", "en2", "en3"} {
		one := native.Interface{Name: name, Type: native.InterfaceThunderbolt, Link: new(true), Up: new(true)}
		d := native.RDMADevice{Name: "rdma_" + name, Interface: name, PortState: native.RDMAPortActive}
		if m.unresponsive {
			d.PortState = native.RDMAPortDown
		}
		for _, a := range m.address[name] {
			one.Addresses = append(one.Addresses, native.InterfaceAddress{Address: a, Origin: native.OriginManual})
			d.GIDs = append(d.GIDs, native.GID{Index: 1, Address: netip.AddrFrom16(a.Addr().As16())})
		}
		n.Interfaces = append(n.Interfaces, one)
		t.Ports = append(t.Ports, native.Port{PortNumber: i + 1, Interface: name})
		r.Devices = append(r.Devices, d)
	}
	for name, members := range m.members {
		n.Bridges = append(n.Bridges, native.Bridge{Name: name, KernelMembers: slices.Clone(members), StoredMembers: slices.Clone(members)})
	}
	for _, s := range m.services {
		s.Addresses = slices.Clone(s.Addresses)
		n.Services = append(n.Services, s)
	}
	return native.Snapshot{Network: n, Thunderbolt: t, RDMA: r}, nil
}

// begin fails an action as configd does when somebody else was quicker.
func (m *mac) begin() error {
	if m.stale > 0 {
		m.stale--
		return native.ErrStale
	}
	return nil
}

// CreateService is as on macOS, where an address comes a moment later.
func (m *mac) CreateService(_ context.Context, spec native.ServiceSpec) (native.NetworkService, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(spec.Check(), m.begin()); err != nil {
		return native.NetworkService{}, err
	}
	if slices.ContainsFunc(m.services, func(s native.NetworkService) bool { return s.Interface == spec.Interface }) {
		return native.NetworkService{}, native.ErrExists
	}
	if slices.Contains(m.members["bridge0"], spec.Interface) {
		return native.NetworkService{}, native.ErrStale
	}
	m.made++
	s := native.NetworkService{
		ID: fmt.Sprintf("service %d", m.made), Name: spec.Name, Interface: spec.Interface, Enabled: true, IPv4: native.OriginManual,
		Addresses: []netip.Prefix{spec.Address},
	}
	m.services = append(m.services, s)
	if !m.mute {
		time.AfterFunc(100*time.Millisecond, func() {
			m.mu.Lock()
			if slices.ContainsFunc(m.services, func(o native.NetworkService) bool { return o.ID == s.ID }) {
				m.address[spec.Interface] = []netip.Prefix{spec.Address}
			}
			m.mu.Unlock()
			m.notify()
		})
	}
	if m.unreceived > 0 {
		m.unreceived--
		return native.NetworkService{}, native.ErrStale
	}
	return s, nil
}

// DeleteService is as on macOS, where an address stays for half a second.
func (m *mac) DeleteService(_ context.Context, expected native.NetworkService) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin(); err != nil {
		return err
	}
	at := slices.IndexFunc(m.services, func(s native.NetworkService) bool { return s.ID == expected.ID })
	if at < 0 {
		return native.ErrNotFound
	}
	if !slices.Equal(m.services[at].Addresses, expected.Addresses) || m.services[at].Name != expected.Name {
		return native.ErrStale
	}
	m.services = slices.Delete(m.services, at, at+1)
	time.AfterFunc(500*time.Millisecond, func() {
		m.mu.Lock()
		if !slices.ContainsFunc(m.services, func(s native.NetworkService) bool { return s.Interface == expected.Interface }) {
			delete(m.address, expected.Interface)
		}
		m.mu.Unlock()
		m.notify()
	})
	return nil
}

// SetBridgeMember is as on macOS, whose kernel takes no member with an address.
func (m *mac) SetBridgeMember(_ context.Context, bridge, iface string, member bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.begin(); err != nil {
		return err
	}
	if member && len(m.address[iface]) > 0 {
		return native.ErrStale
	}
	rest := slices.DeleteFunc(slices.Clone(m.members[bridge]), func(s string) bool { return s == iface })
	if member {
		rest = append(rest, iface)
		slices.Sort(rest)
	}
	m.members[bridge] = rest
	return nil
}
