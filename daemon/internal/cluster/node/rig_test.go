package node

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/native"
	"fulmen/native/memnet"
	"fulmen/native/nativetest/testkit"
)

// scenario is Macs in a bubble, each with an Ethernet on the LAN office (en0) and a
// Thunderbolt interface on the LAN cable (en5), where there are only link-local
// addresses.
type scenario struct {
	t         testing.TB
	net       *memnet.Network
	multicast *multicast
	macs      []*mac
	log       slog.Handler
}

// mac is one machine, over the restarts of its daemon.
type mac struct {
	scenario *scenario
	at       int // its host and its addresses
	identity cluster.Identity
	disk     *disk
	sockets  native.Sockets
	back     time.Duration // how much its wall clock is behind
	protocol [2]int        // the newest and the oldest; zero = today's
	peers    []string

	*Node
	holder  *Holder
	ledger  *ledger.Ledger
	writer  *ledger.Writer
	sharing *sharing
	stop    func()

	set     atomic.Int64 // by how much the wall clock was set since
	mu      sync.Mutex
	removed int
	twins   [][2]string
	ahead   map[api.NodeID]time.Duration
	blind   bool // knows nothing of its networks, and takes any port
}

// on runs a test with n Macs, each alone, their daemons started.
func on(t *testing.T, n int, f func(*scenario)) {
	t.Helper()
	bubble(t, func(d *scenario) {
		for range n {
			d.add().start()
		}
		d.pass(time.Second)
		f(d)
	})
}

// in runs a test with a cluster of n Macs that has existed before; its daemons
// are started, and have found each other.
func in(t *testing.T, n int, f func(*scenario)) {
	t.Helper()
	bubble(t, func(d *scenario) {
		d.found(n)
		for _, m := range d.macs {
			m.start()
		}
		d.whole(time.Minute)
		f(d)
	})
}

func bubble(t *testing.T, f func(*scenario)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &scenario{t: t, net: memnet.New(5), multicast: &multicast{quiet: map[string]bool{}}, log: slog.DiscardHandler}
		t.Cleanup(func() {
			for _, m := range d.macs {
				m.halt()
			}
			time.Sleep(2 * time.Minute) // memberlist's last probes end by their own timers
		})
		f(d)
	})
}

func identityOf(n int) cluster.Identity {
	seed := make([]byte, ed25519.SeedSize)
	binary.BigEndian.PutUint64(seed, uint64(n)+1)
	return cluster.NewIdentity(ed25519.NewKeyFromSeed(seed))
}

func (d *scenario) add() *mac {
	i := len(d.macs)
	m := &mac{scenario: d, at: i, identity: identityOf(i), disk: newDisk()}
	d.net.Attach(m.host(), "en0", "office", m.office().Addr())
	d.net.Attach(m.host(), "en5", "cable", m.cable().Addr())
	d.multicast.attach(antenna{m.host(), "en0", "office", []netip.Addr{m.office().Addr()}})
	d.multicast.attach(antenna{m.host(), "en5", "cable", []netip.Addr{m.cable().Addr()}})
	m.sockets = d.net.Host(m.host())
	d.macs = append(d.macs, m)
	return m
}

// found adds the Macs of one cluster, in which the first has added the others,
// each of which remembers where that one was.
func (d *scenario) found(n int) {
	var all []*mac
	for range n {
		all = append(all, d.add())
	}
	roster, err := cluster.FoundRoster(all[0].identity, time.Now())
	for _, m := range all[1:] {
		d.must(err)
		roster, err = roster.Add(all[0].identity, m.identity.Public(), time.Now())
	}
	d.must(err)
	raw, err := roster.MarshalJSON()
	d.must(err)
	for _, m := range all {
		d.must(m.disk.SaveRoster(roster.Cluster(), raw))
		d.must(m.disk.SaveLastSeen(time.Now()))
		if m != all[0] {
			d.must(m.disk.SaveMet(Met{all[0].identity.Node: {{Address: netip.AddrPortFrom(all[0].office().Addr(), api.PeerPort), Interface: "en0"}}}))
		}
	}
}

func (d *scenario) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (m *mac) host() string { return fmt.Sprint("host", m.at) }
func (m *mac) name() string { return fmt.Sprint("Mac ", m.at) }
func (m *mac) office() netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(m.at >> 8), byte(m.at + 1)}), 16)
}
func (m *mac) cable() netip.Prefix {
	return netip.PrefixFrom(netip.MustParseAddr(fmt.Sprintf("fe80::%x", m.at+1)), 64)
}

// start runs the daemon with what is on the disk.
func (m *mac) start() {
	d := m.scenario
	d.t.Helper()
	back := m.back // what is left of a daemon that ended keeps its own clock
	now := func() time.Time { return time.Now().Add(-back + time.Duration(m.set.Load())) }
	began := time.Now()
	clock := native.ClockFrom(now, func() time.Duration { return time.Since(began) + time.Second })
	roster, err := cluster.OpenRoster(m.disk, m.identity, now())
	d.must(err)
	m.holder = NewHolder(roster, m.disk)
	m.ledger, m.writer, err = ledger.Open(ledger.Options{
		Key: m.identity.Key(), Cluster: m.holder.Cluster(), Counter: m.disk, Store: m.disk, Members: m.holder, Now: now,
	})
	d.must(err)
	m.sharing = &sharing{mapped: map[api.NodeID]string{}}
	m.Node, err = New(Options{
		Identity: m.identity, Roster: m.holder, Ledger: m.ledger, Writer: m.writer,
		Documents: ledger.Documents{Writer: m.writer.Owner("cluster", api.KindReach, api.KindPending)}, Sharing: m.sharing,
		Gate:      peertest.NewGate(gate.Config{Self: m.identity.Node, Electors: m.holder, Clock: clock}),
		Platform:  native.Platform{Clock: clock, Sockets: m.sockets, Discovery: hostDiscovery{d.multicast, m.host()}},
		Addresses: m.disk, Discovery: m.disk, LastSeen: m.disk, Port: m.port(), Peers: m.peers, Version: "1.2.3-test",
		Protocol: cmp.Or(m.protocol[0], api.Protocol), ProtocolMin: cmp.Or(m.protocol[1], api.ProtocolMin), Denied: func(string) {},
		Card: func() pairing.Card {
			return pairing.Card{Name: m.name(), ShortName: m.host(), ModelName: "Secret Studio", Version: "1.2.3-test"}
		},
		Removed: func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.removed++
		},
		Twin: func(node api.NodeID, at string) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.twins = append(m.twins, [2]string{string(node), at})
		},
		Clocks: func(ahead map[api.NodeID]time.Duration) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.ahead = ahead
		},
		Log: func(part string) *slog.Logger { return slog.New(d.log).With("part", part, "host", m.host()) },
	})
	d.must(err)
	if !m.blind {
		m.learn()
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- m.Run(ctx) }()
	m.stop = func() {
		cancel()
		if err := <-over; err != nil {
			d.t.Error(err)
		}
	}
}

// port is where it listens; 0 = anywhere.
func (m *mac) port() int {
	if m.blind {
		return 0
	}
	return api.PeerPort
}

// learn publishes what a daemon learns of its machine whenever it starts.
func (m *mac) learn() {
	m.put(api.KindIdentity, "", api.Identity{PublicKey: m.identity.Public(), Name: m.name(), ShortName: m.host(), Platform: api.PlatformDarwin,
		Architecture: "arm64", Model: "Mac15,14", ModelName: "Secret Studio", Chip: "Apple M3 Ultra", OSName: "macOS", OSVersion: "26.2", FulmenVersion: "1.2.3-test", Protocol: api.Protocol})
	m.put(api.KindNetwork, "", api.Network{PrimaryInterface: "en0", Interfaces: []api.Interface{
		{Name: "en0", Type: api.InterfaceEthernet, Up: true, Addresses: []api.InterfaceAddress{{Address: m.office()}}},
		{Name: "en5", Type: api.InterfaceThunderbolt, Up: true, Addresses: []api.InterfaceAddress{{Address: m.cable(), Origin: api.AddressLinkLocal}}},
	}})
}

// halt ends the daemon, with its farewell.
func (m *mac) halt() {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

// crash ends the daemon so that nobody hears of it.
func (m *mac) crash() {
	m.apart(true)
	m.scenario.pass(10 * time.Second) // what was open breaks
	m.halt()
	m.apart(false)
}

// apart keeps a host from all others.
func (m *mac) apart(is bool) {
	for _, other := range m.scenario.macs {
		if other.at != m.at {
			m.scenario.net.SetApart(m.host(), other.host(), is)
		}
	}
}

func (m *mac) put(kind api.Kind, name string, value any) {
	m.scenario.t.Helper()
	m.scenario.must(m.writer.Put(ledger.Draft{Kind: kind, Name: name, Value: value}))
}

// report writes a number that others are to hear.
func (m *mac) report(n int) {
	m.put(api.KindThunderbolt, "1", json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)))
}

// receives is the number of another Mac as it is held here; -1 if none is.
func (m *mac) receives(of *mac) int {
	record, found := m.ledger.Get(api.Key{Node: of.identity.Node, Kind: api.KindThunderbolt, Name: "1"})
	if !found {
		return -1
	}
	var value struct{ N int }
	m.scenario.must(record.Decode(&value))
	return value.N
}

// sharing is what a person has said.
type sharing struct {
	mu      sync.Mutex
	cluster api.ClusterID
	account string
	changes api.ChangeSharing
	mapped  map[api.NodeID]string
	pruned  int
}

func (l *sharing) CheckAccount(name string) error {
	if name == "root" {
		return errors.New("no job runs as root")
	}
	return nil
}

func (l *sharing) Join(c api.ClusterID, account string, changes api.ChangeSharing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cluster, l.account, l.changes = c, account, changes
	return nil
}

func (l *sharing) MapUser(c api.ClusterMapUserParams) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mapped[c.Node] = c.Account
	return nil
}

func (l *sharing) Prune() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pruned++
	return nil
}

// listen keeps everything that daemons log which are started from now on.
func (d *scenario) listen() (reported func() string) {
	var all testkit.Log
	d.log = slog.NewTextHandler(&all, &slog.HandlerOptions{Level: slog.LevelDebug})
	return all.String
}

// pass lets time go by.
func (d *scenario) pass(took time.Duration) {
	time.Sleep(took)
	synctest.Wait()
}

// within waits until problem says nothing any more, and fails the test where it
// still does after the limit.
func (d *scenario) within(limit time.Duration, problem func() string) time.Duration {
	d.t.Helper()
	began := time.Now()
	for {
		synctest.Wait()
		reported := problem()
		if reported == "" {
			return time.Since(began)
		}
		if time.Since(began) >= limit {
			d.t.Fatalf("after %s: %s", limit, reported)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// running are the Macs whose daemons run.
func (d *scenario) running() []*mac {
	return slices.DeleteFunc(slices.Clone(d.macs), func(m *mac) bool { return m.stop == nil })
}

// whole waits until all Macs that run hold the same, have each other for alive,
// and reach each other by both LANs.
func (d *scenario) whole(limit time.Duration) time.Duration {
	d.t.Helper()
	return d.within(limit, func() string { return d.broken(d.running(), 2) })
}

// broken says what keeps Macs from being one cluster whose members reach each
// other by so many paths.
func (d *scenario) broken(macs []*mac, paths int) string {
	for _, m := range macs {
		for _, o := range macs {
			if m == o {
				continue
			}
			if !m.holder.IsMember(o.identity.Node) {
				return fmt.Sprintf("%s is not a member for %s", o.host(), m.host())
			}
			if s := m.State(o.identity.Node); s.Liveness != api.LivenessAlive {
				return fmt.Sprintf("%s has %s for %s (%s)", m.host(), o.host(), s.Liveness, s.Reason)
			}
			if active := m.active(o); len(active) != paths {
				return fmt.Sprintf("%s reaches %s by %v", m.host(), o.host(), active)
			}
		}
	}
	return d.disagreement(macs)
}

// active are this node's interfaces of the active paths to another Mac.
func (m *mac) active(to *mac) []string {
	var all []string
	for _, p := range m.transport.Paths(to.identity.Node) {
		if p.State == api.PathActive {
			all = append(all, p.Interface)
		}
	}
	slices.Sort(all)
	return all
}

// disagreement says what two Macs hold differently of what both should have.
func (d *scenario) disagreement(macs []*mac) string {
	first := macs[0].view(macs)
	for _, m := range macs[1:] {
		view := m.view(macs)
		for key, doc := range first {
			if view[key] != doc {
				return fmt.Sprintf("%v: %s has %q, %s has %q", key, macs[0].host(), doc, m.host(), view[key])
			}
		}
		for key, doc := range view {
			if first[key] != doc {
				return fmt.Sprintf("%v: %s has %q, %s has %q", key, macs[0].host(), first[key], m.host(), doc)
			}
		}
	}
	return ""
}

// view is the documents of some Macs that move by themselves to every member.
func (m *mac) view(of []*mac) map[api.Key]string {
	var nodes []api.NodeID
	for _, o := range of {
		nodes = append(nodes, o.identity.Node)
	}
	all := map[api.Key]string{}
	for _, record := range m.ledger.List(ledger.Filter{Nodes: nodes}) {
		key := record.Key()
		if key.Kind == api.KindPending || key.Kind == api.KindMemory || key.Kind == api.KindSystem {
			continue
		}
		doc := record.Document()
		all[key] = fmt.Sprint(record.Version(), " ", string(bytes.Clone(doc.Value)))
	}
	return all
}
