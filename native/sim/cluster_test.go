package sim_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// studio is a Mac with that many TB5 ports en1..., and en0 on the office LAN.
func studio(number, ports int) scenario.Mac {
	name := string(rune('a' + number - 1))
	m := scenario.Mac{
		Name:        name,
		Identity:    native.Identity{Name: "Studio " + name, HostName: name, Model: "Mac15,14", OSName: "macOS", OSVersion: "26.2"},
		MemoryBytes: 128 << 30, GPUWorkingSetBytes: 96 << 30, UsedBytes: 16 << 30,
		Pressure: native.PressureNormal, ThermalState: native.ThermalNominal, PowerSource: native.PowerAC,
		RDMA: native.RDMAOn, OSCapable: true,
		Interfaces: []scenario.Interface{{
			Name: "en0", Type: native.InterfaceEthernet, Network: "office", LinkUp: true, MTUBytes: 1500,
			SpeedBitsPerS: 10_000_000_000, Service: "Ethernet",
			Addresses: []native.InterfaceAddress{
				address(fmt.Sprintf("192.168.1.%d/24 dhcp", 10+number)), address(fmt.Sprintf("fe80::%d:0/64", number)),
			},
		}},
	}
	for i := range ports {
		m.Ports = append(m.Ports, scenario.Port{
			PortNumber: i + 1, Place: fmt.Sprintf("back-%d", i+1), Capability: native.TB5, Interface: fmt.Sprintf("en%d", i+1),
			DomainUUID: scenario.MakeUUID("desk", name, strconv.Itoa(i+1)),
		})
		m.Interfaces = append(m.Interfaces, scenario.Interface{
			Name: fmt.Sprintf("en%d", i+1), Type: native.InterfaceThunderbolt, MTUBytes: 1500,
			Addresses: []native.InterfaceAddress{
				address(fmt.Sprintf("169.254.%d.%d/16 link_local", 100+i, number)),
				address(fmt.Sprintf("fe80::%d:%d/64", number, i+1)),
			},
		})
	}
	return m
}

func address(text string) native.InterfaceAddress {
	a, err := scenario.ParseAddress(text)
	if err != nil {
		panic(err)
	}
	return a
}

// cluster is a scenario of that many Macs with three ports each, in an office.
func cluster(macs int, cables ...string) scenario.Scenario {
	s := scenario.Scenario{Name: "desk", Networks: []scenario.Network{{Name: "office", Type: native.InterfaceEthernet}}}
	for i := range macs {
		s.Macs = append(s.Macs, studio(i+1, 3))
	}
	s.Hubs = []scenario.Hub{
		{Name: "hub", Vendor: "Acme", Product: "Hub 5", Capability: native.TB5, Downstream: 3},
		{Name: "dock", Vendor: "Acme", Product: "Dock 4", Capability: native.TB4, Downstream: 2},
	}
	for _, line := range cables {
		op := parse("plug " + line)
		s.Cables = append(s.Cables, scenario.Cable{Ends: [2]scenario.End{op.Ends[0], op.Ends[1]}, Speed: op.Speed})
	}
	return s
}

func parse(line string) scenario.Op {
	op, err := scenario.ParseOp(line)
	if err != nil {
		panic(err)
	}
	return op
}

// bench is a world on a clock that is moved by hand, with what its Macs were
// told.
type bench struct {
	*sim.World
	t         *testing.T
	clock     *nativetest.Clock
	platforms map[string]native.Platform
	mu        sync.Mutex
	received  []string
}

func newBench(t *testing.T, s scenario.Scenario) *bench {
	t.Helper()
	b := &bench{t: t, clock: nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), platforms: map[string]native.Platform{}}
	var err error
	if b.World, err = sim.New(s, b.clock); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = b.Close()
		if n := b.clock.Pending(); n != 0 {
			t.Errorf("%d timers are left after the world was closed", n)
		}
	})
	for _, name := range b.Macs() {
		p, err := b.Platform(name)
		if err != nil {
			t.Fatal(err)
		}
		b.platforms[name] = p
		if _, err := p.Facts.Watch(func(h native.Hint) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.received = append(b.received, fmt.Sprintf("%s %s %s %s", name, h.Area, h.Source, h.Subject))
		}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// do applies lines and returns what was hinted since the last call, sorted.
func (b *bench) do(lines ...string) []string {
	b.t.Helper()
	for _, line := range lines {
		if err := b.Apply(parse(line)); err != nil {
			b.t.Fatal(err)
		}
	}
	return b.hints()
}

func (b *bench) hints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	received := b.received
	b.received = nil
	slices.Sort(received)
	return received
}

func (b *bench) snapshot(mac string) native.Snapshot {
	b.t.Helper()
	s, err := b.platforms[mac].Facts.Snapshot(b.t.Context(), native.AllAreas()...)
	if err != nil {
		b.t.Fatal(err)
	}
	if problems := s.Check(native.AllAreas()); problems != nil {
		b.t.Fatal(mac, problems)
	}
	return s
}

func (b *bench) port(mac string, portNumber int) native.Port {
	p, _ := b.snapshot(mac).Thunderbolt.Port(portNumber)
	return p
}

func (b *bench) iface(mac, name string) native.Interface {
	i, _ := b.snapshot(mac).Network.Interface(name)
	return i
}

// addresses are those on an interface now.
func (b *bench) addresses(mac, name string) []string {
	var all []string
	for _, a := range b.iface(mac, name).Addresses {
		all = append(all, a.Address.String())
	}
	return all
}

func TestConform(t *testing.T) {
	nativetest.Conform(t, func(t *testing.T) native.Platform {
		w, err := sim.New(cluster(3, "a.tb1 b.tb1", "hub.up a.tb2", "c.tb1 hub.1"), nativetest.NewClock(time.Now()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Close() })
		p, err := w.Platform("a")
		if err != nil {
			t.Fatal(err)
		}
		return p
	})
}

func TestCableAtBothEnds(t *testing.T) {
	is := is.New(t)
	b := newBench(t, cluster(2))
	is.Equal(b.port("a", 1).Status, native.PortEmpty)
	is.Equal(*b.port("a", 1).Negotiated, native.Link{State: native.LinkDown})

	is.NoErr(b.Apply(parse("plug a.tb1 b.tb2 120/40G")))
	a1, b2 := b.port("a", 1), b.port("b", 2)
	is.Equal(a1.Status, native.PortPeer)
	is.Equal(a1.Peers[0].DomainUUID, b2.DomainUUID)
	is.Equal(b2.Peers[0].DomainUUID, a1.DomainUUID)
	is.Equal(a1.Peers[0].Name, "Mac15,14")
	is.Equal(a1.Negotiated.TxBitsPerS, int64(120e9))
	is.Equal(b2.Negotiated.RxBitsPerS, int64(120e9))

	is.NoErr(b.Apply(parse("unplug b.tb2")))
	is.Equal(b.port("a", 1).Status, native.PortEmpty)
	is.Equal(b.port("b", 2).Peers, []native.Peer{})
}

func TestImpossibleChanges(t *testing.T) {
	b := newBench(t, cluster(2, "a.tb1 b.tb1", "dock.up a.tb2"))
	for line, want := range map[string]error{
		"plug a.tb1 b.tb2":         native.ErrExists,
		"plug a.tb3 c.tb1":         native.ErrNotFound,
		"plug a.tb9 b.tb2":         native.ErrNotFound,
		"plug a.tb3 dock.3":        native.ErrNotFound,
		"plug b.tb3 dock.1 80G":    nil,
		"plug a.tb3 b.tb3 50G":     nil,
		"unplug a.tb3":             native.ErrNotFound,
		"retrain a.tb3 40G":        native.ErrNotFound,
		"retrain a.tb2 80G":        nil,
		"sleep c":                  native.ErrNotFound,
		"set c.rdma on":            native.ErrNotFound,
		"set a.en9.link down":      native.ErrNotFound,
		"set a.en1.bridge bridge0": native.ErrNotFound,
		"set a.memory.used 129 GB": nil,
		"set office.rdma on":       nil,
	} {
		t.Run(line, func(t *testing.T) {
			is := is.New(t)
			before := b.snapshot("a")
			err := b.Apply(parse(line))
			is.True(err != nil)
			is.True(want == nil || errors.Is(err, want))
			is.Equal(b.snapshot("a"), before) // not at all
			is.Equal(b.hints(), nil)
		})
	}
}
