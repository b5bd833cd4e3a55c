package transport

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/native"
	"fulmen/native/memnet"
)

// book is who is a member, as everybody sees it.
type book struct {
	mu   sync.Mutex
	keys map[api.NodeID]ed25519.PublicKey
}

func (b *book) PublicKey(node api.NodeID) (ed25519.PublicKey, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key, ok := b.keys[node]
	return key, ok
}

func (b *book) Cluster() api.ClusterID { return "00112233445566778899aabbccddeeff" }

func (b *book) set(id cluster.Identity, isMember bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if delete(b.keys, id.Node); isMember {
		b.keys[id.Node] = id.Public()
	}
}

// scenario is nodes on two LANs, "office" (10.0.0.N on en0) and "cable" (fe80::N on
// en5), in a bubble.
type scenario struct {
	t     *testing.T
	net   *memnet.Network
	clock native.Clock
	book  *book
	nodes []*node
}

type node struct {
	scenario *scenario
	id       cluster.Identity
	name     string
	*Transport
	mu     sync.Mutex
	got    []string
	events []PathEvent
}

func identity(n int) cluster.Identity {
	return cluster.NewIdentity(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(n + 1)}, ed25519.SeedSize)))
}

// within runs a test with n nodes that know each other's addresses.
func within(t *testing.T, n int, f func(d *scenario)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := &scenario{
			t: t, net: memnet.New(1), book: &book{keys: map[api.NodeID]ed25519.PublicKey{}},
			clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) + time.Second }),
		}
		for i := range n {
			name := fmt.Sprint("host", i)
			d.net.Attach(name, "en0", "office", netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}))
			d.net.Attach(name, "en5", "cable", netip.MustParseAddr(fmt.Sprintf("fe80::%d", i+1)))
			d.book.set(identity(i), true)
			d.nodes = append(d.nodes, d.start(i))
		}
		for _, a := range d.nodes {
			for _, b := range d.nodes {
				a.SetCandidates(b.id.Node, d.candidates(b))
			}
		}
		t.Cleanup(func() {
			for _, n := range d.nodes {
				n.Close()
			}
		})
		f(d)
	})
}

// start opens a node's transport.
func (d *scenario) start(i int) *node {
	n := &node{scenario: d, id: identity(i), name: fmt.Sprint("host", i)}
	var err error
	n.Transport, err = New(Options{
		Identity: n.id, Members: d.book, Sockets: d.net.Host(n.name), Clock: d.clock, Port: api.PeerPort,
		Hello: func() api.PeerHello {
			return api.PeerHello{Cluster: d.book.Cluster(), Protocol: api.Protocol, ProtocolMin: api.ProtocolMin}
		},
		IsPairing: func() bool { return false }, Twice: func(api.NodeID, Path) {}, Denied: func(string) {}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	n.Packets(func(from api.NodeID, packet []byte) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.got = append(n.got, string(packet))
	})
	n.Watch(func(e PathEvent) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.events = append(n.events, e)
	})
	n.SetInterfaces([]Interface{
		{Name: "en0", Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 24)}, Rank: 2},
		{Name: "en5", Addresses: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("fe80::%d/64", i+1))}, Rank: 1},
	})
	return n
}

// open starts every node.
func (d *scenario) open() {
	for _, n := range d.nodes {
		if err := n.Start(); err != nil {
			d.t.Fatal(err)
		}
	}
	d.pass(2 * time.Second)
}

// pass lets time go by.
func (d *scenario) pass(took time.Duration) {
	time.Sleep(took)
	synctest.Wait()
}

// candidates are where a node can be reached.
func (d *scenario) candidates(of *node) []Candidate {
	i := int(of.name[len("host")] - '0')
	return []Candidate{
		{Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), api.PeerPort)},
		{Address: netip.AddrPortFrom(netip.MustParseAddr(fmt.Sprintf("fe80::%d%%en5", i+1)), api.PeerPort), Interface: "en5"},
	}
}

// packets are those that have come since the last time.
func (n *node) packets() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	got := n.got
	n.got = nil
	return got
}

// changes are the paths' comings and goings since the last time, in words.
func (n *node) changes() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for _, e := range n.events {
		all = append(all, fmt.Sprintf("%s %s", e.Path.Interface, e.Path.State))
	}
	n.events = nil
	return all
}

// active are the interfaces of the active paths to a node, the best first.
func (n *node) active(to *node) []string {
	var all []string
	for _, p := range n.Paths(to.id.Node) {
		if p.State == api.PathActive {
			all = append(all, p.Interface+">"+p.PeerInterface)
		}
	}
	return all
}

var _ net.Conn = (*Kept)(nil)

// gate lets every member in.
func (n *node) gate() *gate.Gate { return peertest.GateFor(n.id.Node, n.scenario.clock, nil) }

// handle sets who answers the calls of a endpoint of any member.
func (n *node) handle(d gate.MemberRoute, h func(context.Context, api.NodeID, json.RawMessage) (any, error)) {
	n.HandleCall(n.gate().Bind(gate.HandleMember(d, func(ctx context.Context, m gate.Member, raw json.RawMessage) (any, error) {
		return h(ctx, m.Node(), raw)
	})))
}
