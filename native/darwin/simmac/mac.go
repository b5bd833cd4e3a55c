//go:build cgo && linux && darwinsim

package simmac

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"reflect"
	"sync"

	"fulmen/native"
	"fulmen/native/darwin"
	"fulmen/native/darwin/simfw"
	"fulmen/native/waker"
)

// Mac keeps a simulated machine in step with a Mac that another platform, of
// package sim, tells of.
type Mac struct {
	// Machine is what native/darwin sees of it.
	Machine *simfw.Machine

	source native.Platform
	stop   []func() error
	work   waker.Waker
	done   sync.WaitGroup

	projecting sync.Mutex // one at a time, with planes, store, stored, bridges and pressure

	mu       sync.Mutex
	ended    bool
	pending  map[native.Area]bool
	facts    native.Snapshot // as last projected
	planes   [2]*plane
	store    map[string]any
	stored   map[string]any
	bridges  map[string]any // their members in the kernel
	pressure native.Pressure
	notices  map[int64]string
	notice   int64
	aliases  map[string]string // identifiers of services, by the source's
	failed   error
}

// New makes the machine of a Mac and follows it until Close. The source stays the
// caller's.
func New(source native.Platform) (*Mac, error) {
	m := &Mac{
		Machine: simfw.New(), source: source, work: waker.New(), pending: map[native.Area]bool{},
		store: map[string]any{}, stored: map[string]any{}, bridges: map[string]any{}, notices: map[int64]string{}, aliases: map[string]string{},
	}
	m.planes = [2]*plane{newPlane(m.Machine, false), newPlane(m.Machine, true)}
	m.Machine.SetHooks(simfw.Hooks{Allowed: m.allowed, Applied: m.applied})
	stop, err := source.Facts.Watch(func(h native.Hint) { m.changed(h.Area) })
	if err != nil {
		m.Machine.Close()
		return nil, err
	}
	m.stop = append(m.stop, stop)
	stop, err = source.Power.Notices(m.announce)
	if err == nil {
		m.stop = append(m.stop, stop)
	}
	m.mu.Lock()
	for _, area := range native.AllAreas() {
		m.pending[area] = true
	}
	m.mu.Unlock()
	err = errors.Join(err, m.Project())
	m.done.Go(func() {
		for range m.work {
			m.fail(m.Project())
		}
	})
	if err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Close ends the following and frees the machine, which nothing may use any more.
func (m *Mac) Close() error {
	var err error
	for _, stop := range m.stop {
		err = errors.Join(err, stop())
	}
	m.mu.Lock()
	ended := m.ended
	m.ended = true
	m.mu.Unlock()
	if ended {
		return err
	}
	close(m.work)
	m.done.Wait()
	m.Machine.Close()
	return errors.Join(err, m.failed)
}

// Platform is native/darwin over the machine. It is closed before the Mac is.
func (m *Mac) Platform(clock native.Clock) (native.Platform, error) {
	return darwin.OpenSimulated(m.simulated(clock))
}

// PlatformAsking is one whose RDMA library a child asks.
func (m *Mac) PlatformAsking(clock native.Clock, command ...string) (native.Platform, error) {
	s := m.simulated(clock)
	s.Verbs = command
	return darwin.OpenSimulated(s)
}

// Record is the Mac as a recording.
func (m *Mac) Record(clock native.Clock) (darwin.Recording, []darwin.Replaced) {
	return m.simulated(clock).Record()
}

func (m *Mac) simulated(clock native.Clock) darwin.Simulated {
	return darwin.Simulated{Machine: m.Machine, Clock: clock, Sysctl: m.sysctl, Interfaces: m.interfaces}
}

// changed notes an area to be looked at.
func (m *Mac) changed(area native.Area) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return
	}
	m.pending[area] = true
	m.work.Wake()
}

// Project takes the areas that have changed into the machine, and returns once
// that is done. It happens by itself soon after each change.
func (m *Mac) Project() error {
	m.projecting.Lock()
	defer m.projecting.Unlock()
	m.mu.Lock()
	var areas []native.Area
	for _, area := range native.AllAreas() {
		if m.pending[area] {
			areas = append(areas, area)
			delete(m.pending, area)
		}
	}
	m.mu.Unlock()
	// A session that has the lock is changing what would be read here.
	defer m.Machine.HoldStored()()
	s, err := m.source.Facts.Snapshot(context.Background(), areas...)
	if err != nil {
		return err
	}
	m.mu.Lock()
	for _, area := range areas { // one that is absent is silent now
		m.facts.Part(area).Set(s.Part(area))
	}
	facts := m.facts
	m.mu.Unlock()
	if facts.Network != nil {
		network := m.aliased(*facts.Network)
		facts.Network = &network
	}
	return m.apply(facts)
}

// Still keeps the machine as it is, whatever changes on the Mac that is followed,
// until release is called.
func (m *Mac) Still() (release func()) {
	m.projecting.Lock()
	return m.projecting.Unlock
}

// apply changes what differs: first what nothing announces, so that whoever hears
// of the rest finds it changed.
func (m *Mac) apply(s native.Snapshot) error {
	if s.RDMA != nil {
		m.Machine.SetValue("verbs", Verbs(*s.RDMA))
	}
	if s.Network != nil {
		m.Machine.SetInterfaces(Interfaces(*s.Network))
		bridges := map[string]any{}
		for _, b := range s.Network.Bridges {
			bridges[b.Name] = texts(b.KernelMembers)
		}
		replace(m.bridges, bridges, func(name string, members any) {
			list, _ := members.([]any)
			m.Machine.SetBridge(name, list)
		})
	}
	err := errors.Join(m.planes[0].apply(Services(s)), m.planes[1].apply(DeviceTree(s)))
	if s.Network != nil {
		replace(m.stored, Stored(*s.Network), m.Machine.SetStored)
	}
	replace(m.store, Store(s), m.Machine.SetStore)
	m.applyPower(s)
	return err
}

// replace sets the keys that differ and removes those that are gone.
func replace(have, want map[string]any, set func(string, any)) {
	for key, value := range want {
		if !reflect.DeepEqual(have[key], value) {
			set(key, value)
			have[key] = value
		}
	}
	for key := range have {
		if _, there := want[key]; !there {
			set(key, nil)
			delete(have, key)
		}
	}
}

// interfaces is what the kernel says through other doors.
func (m *Mac) interfaces() []darwin.SimulatedInterface {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.facts.Network == nil {
		return nil
	}
	var out []darwin.SimulatedInterface
	for _, i := range m.facts.Network.Interfaces {
		own := darwin.SimulatedInterface{
			Name: i.Name, Index: i.Index, Hardware: i.HardwareAddress, MTUBytes: 1500, Up: i.Up != nil && *i.Up, Running: i.Up != nil && *i.Up,
			Loopback: i.Type == native.InterfaceLoopback, PointToPoint: i.Type == native.InterfaceVPN,
			Addresses: []netip.Prefix{},
		}
		if i.MTUBytes != nil {
			own.MTUBytes = *i.MTUBytes
		}
		for _, a := range i.Addresses {
			own.Addresses = append(own.Addresses, a.Address)
		}
		out = append(out, own)
	}
	return out
}

// sysctl is the kernel's values by name.
func (m *Mac) sysctl(name string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id, memory := m.facts.Identity, m.facts.Memory
	four := func(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }
	switch {
	case name == "kern.memorystatus_vm_pressure_level" && memory != nil:
		return four(pressureLevels[memory.Pressure]), true
	case name == "hw.memsize" && memory != nil && memory.TotalBytes != nil:
		return binary.LittleEndian.AppendUint64(nil, uint64(*memory.TotalBytes)), true
	case name == "hw.physicalcpu" && id != nil && id.CPUCores != nil:
		return four(*id.CPUCores), true
	}
	if id == nil {
		return nil, false
	}
	value := map[string]string{
		"hw.model": id.Model, "machdep.cpu.brand_string": id.Chip, "kern.osproductversion": id.OSVersion,
		"kern.osversion": id.OSBuild, "kern.bootsessionuuid": id.BootID,
	}[name]
	return append([]byte(value), 0), value != ""
}

// ID is the registry id of a node of the services.
func (m *Mac) ID(key string) (uint64, bool) {
	m.projecting.Lock()
	defer m.projecting.Unlock()
	id, ok := m.planes[0].ids[key]
	return id, ok
}

// Nodes are the services as they were last projected, each after what it hangs
// from.
func (m *Mac) Nodes() []*Node {
	m.projecting.Lock()
	defer m.projecting.Unlock()
	var all []*Node
	m.planes[0].tree.Walk(func(_, n *Node) { all = append(all, n) })
	return all
}
