package gossip

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/transport"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/native"
	"fulmen/native/memnet"
)

// scenario is nodes with gossip over real transports on two LANs in memory.
type scenario struct {
	t     *testing.T
	net   *memnet.Network
	clock native.Clock
	nodes []*node

	mu   sync.Mutex
	keys map[api.NodeID]ed25519.PublicKey
}

type node struct {
	scenario *scenario
	at       int
	id       cluster.Identity
	wire     *transport.Transport
	*Gossip

	mu  sync.Mutex
	log []string
}

func (d *scenario) PublicKey(n api.NodeID) (ed25519.PublicKey, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key, ok := d.keys[n]
	return key, ok
}

func (d *scenario) Cluster() api.ClusterID { return "00112233445566778899aabbccddeeff" }

func (d *scenario) members() []api.NodeID {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []api.NodeID
	for n := range d.keys {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

func identity(n int) cluster.Identity {
	return cluster.NewIdentity(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(n + 1)}, ed25519.SeedSize)))
}

// within runs a test with n nodes in a bubble.
func within(t *testing.T, n int, f func(*scenario)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := &scenario{
			t: t, net: memnet.New(7), keys: map[api.NodeID]ed25519.PublicKey{},
			clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) + time.Second }),
		}
		for i := range n {
			d.net.Attach(fmt.Sprint(i), "en0", "office", office(i))
			d.net.Attach(fmt.Sprint(i), "en5", "cable", cable(i))
			d.keys[identity(i).Node] = identity(i).Public()
		}
		for i := range n {
			d.nodes = append(d.nodes, d.start(i, n))
		}
		t.Cleanup(func() {
			for _, n := range d.nodes {
				n.Close()
				n.wire.Close()
			}
			time.Sleep(time.Minute) // a last probe of memberlist's ends by its own timer
		})
		d.pass(5 * time.Second)
		f(d)
	})
}

func office(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}) }
func cable(i int) netip.Addr  { return netip.AddrFrom4([4]byte{169, 254, 1, byte(i + 1)}) }

func (d *scenario) start(i, n int) *node {
	v := &node{scenario: d, at: i, id: identity(i)}
	var err error
	v.wire, err = transport.New(transport.Options{
		Identity: v.id, Members: d, Sockets: d.net.Host(fmt.Sprint(i)), Clock: d.clock, Port: api.PeerPort,
		Hello: func() api.PeerHello {
			return api.PeerHello{Cluster: d.Cluster(), Protocol: api.Protocol, ProtocolMin: api.ProtocolMin}
		},
		IsPairing: func() bool { return false }, Twice: func(api.NodeID, transport.Path) {}, Denied: func(string) {}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	v.Gossip = New(Options{Self: v.id.Node, Transport: v.wire, Gate: peertest.GateFor(v.id.Node, d.clock, nil), Members: d.members, Clock: d.clock, Log: slog.New(slog.DiscardHandler)})
	v.Watch(func(who api.NodeID, s State) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.log = append(v.log, fmt.Sprint(d.index(who), " ", s.Liveness))
	})
	v.wire.SetInterfaces([]transport.Interface{
		{Name: "en0", Addresses: []netip.Prefix{netip.PrefixFrom(office(i), 24)}, Rank: 2},
		{Name: "en5", Addresses: []netip.Prefix{netip.PrefixFrom(cable(i), 24)}, Rank: 1},
	})
	for o := range n {
		v.wire.SetCandidates(identity(o).Node, []transport.Candidate{
			{Address: netip.AddrPortFrom(office(o), api.PeerPort)}, {Address: netip.AddrPortFrom(cable(o), api.PeerPort)},
		})
	}
	if err := v.Start(); err != nil {
		d.t.Fatal(err)
	}
	if err := v.wire.Start(); err != nil {
		d.t.Fatal(err)
	}
	return v
}

func (d *scenario) index(who api.NodeID) int {
	for i := range 64 {
		if identity(i).Node == who {
			return i
		}
	}
	return -1
}

func (d *scenario) pass(took time.Duration) {
	time.Sleep(took)
	synctest.Wait()
}

// alive are the numbers of those whom a node takes for alive.
func (v *node) alive() []int {
	var all []int
	for _, n := range v.scenario.members() {
		if n != v.id.Node && v.State(n).Liveness == api.LivenessAlive {
			all = append(all, v.scenario.index(n))
		}
	}
	slices.Sort(all)
	return all
}

// changes are what was told since the last time.
func (v *node) changes() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	log := v.log
	v.log = nil
	return log
}

func TestAllAreAlive(t *testing.T) {
	within(t, 4, func(d *scenario) {
		is := is.New(d.t)
		for i, v := range d.nodes {
			is.Equal(v.alive(), slices.DeleteFunc([]int{0, 1, 2, 3}, func(n int) bool { return n == i }))
			reported := v.changes()
			for o := range d.nodes {
				times := 0
				for _, line := range reported {
					if line == fmt.Sprint(o, " alive") {
						times++
					}
				}
				is.Equal(times == 1, o != i) // each once, whoever heard of it first
			}
		}
		d.pass(20 * time.Minute)
		for _, v := range d.nodes {
			is.Equal(v.changes(), nil) // nobody was suspected
		}
	})
}

// One of two networks is cut: nobody is suspected.
func TestOneNetworkCut(t *testing.T) {
	for _, lan := range []string{"office", "cable"} {
		within(t, 3, func(d *scenario) {
			is := is.New(d.t)
			for _, v := range d.nodes {
				v.changes()
			}
			d.net.SetLAN(lan, false)
			d.pass(2 * time.Minute)
			d.net.SetLAN(lan, true)
			d.pass(2 * time.Minute)
			for _, v := range d.nodes {
				is.Equal(v.changes(), nil)
			}
		})
	}
}

func TestCutOffAndBack(t *testing.T) {
	within(t, 3, func(d *scenario) {
		is := is.New(d.t)
		a, c := d.nodes[0], d.nodes[2]
		for _, v := range d.nodes {
			v.changes()
		}
		for _, other := range []string{"0", "1"} {
			d.net.SetApart("2", other, true)
		}
		d.pass(30 * time.Second)
		is.Equal(a.alive(), []int{1})
		is.Equal(c.alive(), nil)
		is.Equal(a.State(c.id.Node).Liveness, api.LivenessUnreachable)
		is.Equal(a.State(c.id.Node).Reason, api.ReasonUnreachable)
		d.pass(time.Hour) // memberlist has given up for good
		for _, other := range []string{"0", "1"} {
			d.net.SetApart("2", other, false)
		}
		d.pass(90 * time.Second)
		is.Equal(a.alive(), []int{1, 2})
		is.Equal(c.alive(), []int{0, 1})
	})
}

// A path that only leads through others: gossip goes on, the way is not direct.
func TestHalfCut(t *testing.T) {
	within(t, 3, func(d *scenario) {
		is := is.New(d.t)
		d.net.SetApart("0", "2", true)
		d.pass(time.Minute)
		is.Equal(d.nodes[0].State(d.nodes[2].id.Node).Liveness, api.LivenessSuspect) // 1 still sees it
		is.Equal(d.nodes[1].alive(), []int{0, 2})
	})
}

func TestFarewell(t *testing.T) {
	within(t, 3, func(d *scenario) {
		is := is.New(d.t)
		gone := d.nodes[2]
		gone.Close()
		gone.wire.Close()
		d.pass(2 * time.Second)
		is.Equal(d.nodes[0].State(gone.id.Node).Liveness, api.LivenessLeft)
		again := d.start(2, 3)
		d.nodes = append(d.nodes, again)
		d.pass(30 * time.Second)
		is.Equal(d.nodes[0].alive(), []int{1, 2})
	})
}

// A crash says nothing, and the node is back before it was given up.
func TestCrashAndQuickRestart(t *testing.T) {
	within(t, 3, func(d *scenario) {
		is := is.New(d.t)
		d.nodes[2].stop() // no farewell
		d.nodes[2].running.Wait()
		d.nodes[2].list.Shutdown()
		d.nodes[2].wire.Close()
		d.pass(time.Second)
		d.nodes = append(d.nodes, d.start(2, 3))
		d.pass(time.Minute)
		for _, v := range []*node{d.nodes[0], d.nodes[1]} {
			is.True(slices.Contains(v.alive(), 2))
		}
	})
}

func TestRemovedIsNotListed(t *testing.T) {
	within(t, 3, func(d *scenario) {
		is := is.New(d.t)
		gone := d.nodes[2]
		d.mu.Lock()
		delete(d.keys, gone.id.Node)
		d.mu.Unlock()
		for _, v := range d.nodes[:2] {
			v.wire.Drop(gone.id.Node)
			v.Changed()
		}
		d.pass(10 * time.Minute) // in which it knocks all the time
		is.Equal(d.nodes[0].alive(), []int{1})
		is.Equal(d.nodes[0].State(gone.id.Node).Reason, api.ReasonNeverHeardOf)
	})
}

// Idle traffic is bounded, and grows with the logarithm of the cluster at most.
func TestIdleTraffic(t *testing.T) {
	within(t, 8, func(d *scenario) {
		is := is.New(d.t)
		d.pass(time.Minute)
		before, _, _ := d.net.Host("0").Traffic()
		d.pass(10 * time.Minute)
		after, _, _ := d.net.Host("0").Traffic()
		perSecond := float64(after-before) / 600
		d.t.Logf("%.0f bytes a second and node, of 8 on two networks", perSecond)
		is.True(perSecond < 1000)
	})
}
