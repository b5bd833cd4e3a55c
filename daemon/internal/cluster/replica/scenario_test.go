package replica

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/ledger"
	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

// scenario is a cluster in a bubble.
type scenario struct {
	t      testing.TB
	net    *fabric
	nodes  []*member
	delay  time.Duration
	timing Timing
	log    *slog.Logger
}

// member is one node, over its restarts.
type member struct {
	scenario *scenario
	identity cluster.Identity
	disk     *disk
	holder   *holder
	// takesBack is the ledger's.
	takesBack func(api.Document) bool
	// back is how much its wall clock is behind.
	back time.Duration

	ledger  *ledger.Ledger
	writer  *ledger.Writer
	replica *Replica
	stop    func()
	removed []api.NodeID
}

func identityOf(n int) cluster.Identity {
	seed := make([]byte, ed25519.SeedSize)
	binary.BigEndian.PutUint64(seed, uint64(n)+1)
	return cluster.NewIdentity(ed25519.NewKeyFromSeed(seed))
}

// newScenario starts n nodes that are members of one cluster and reach nobody yet.
func newScenario(t testing.TB, n int) *scenario { return newScenarioWith(t, n, Timing{}) }

func newScenarioWith(t testing.TB, n int, timing Timing) *scenario {
	d := &scenario{t: t, timing: timing, net: newFabric(testkit.Seed(n)), delay: 2 * time.Millisecond}
	for i := range n {
		d.nodes = append(d.nodes, &member{scenario: d, identity: identityOf(i), disk: newDisk()})
	}
	roster, err := cluster.FoundRoster(d.nodes[0].identity, time.Now())
	for i := 1; i < n && err == nil; i++ {
		roster, err = roster.Add(d.nodes[0].identity, d.nodes[i].identity.Public(), time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.nodes {
		m.holder = &holder{roster: roster}
		m.start()
	}
	return d
}

// start runs a node with what is on its disk.
func (m *member) start() {
	d := m.scenario
	d.t.Helper()
	var err error
	back := m.back // what is left of a node that was ended keeps its own clock
	now := func() time.Time { return time.Now().Add(-back) }
	m.ledger, m.writer, err = ledger.Open(ledger.Options{Key: m.identity.Key(), Cluster: m.holder.Current().Cluster(),
		Counter: m.disk, Store: m.disk, Members: m.holder, Now: now, TakesBack: m.takesBack})
	if err != nil {
		d.t.Fatal(err)
	}
	began := time.Now()
	m.replica, err = New(Options{Ledger: m.ledger, Writer: m.writer, Roster: m.holder, Calls: &caller{d.net, m.identity.Node},
		Clock:    native.ClockFrom(now, func() time.Duration { return time.Since(began) }),
		LastSeen: m.disk,
		OnRemoved: func(n api.NodeID) {
			d.net.mu.Lock()
			defer d.net.mu.Unlock()
			m.removed = append(m.removed, n)
		},
		Rand:   testkit.Seed(time.Now().UnixNano()).Source(binary.BigEndian.Uint64([]byte(m.identity.Node[:8]))),
		Timing: d.timing, Log: d.log})
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		m.replica.Run(ctx)
	}()
	m.stop = func() { cancel(); <-over; m.stop = nil }
	d.net.mu.Lock()
	d.net.nodes[m.identity.Node] = m.replica
	d.net.mu.Unlock()
	m.writeFacts()
}

// writeFacts puts what every node relearns when it starts.
func (m *member) writeFacts() {
	m.put(api.KindIdentity, "", 0)
	m.put(api.KindNetwork, "", 0)
}

// close ends all nodes.
func (d *scenario) close() {
	for _, m := range d.nodes {
		if m.stop != nil {
			m.stop()
		}
	}
}

// kill ends a node; its neighbours notice.
func (d *scenario) kill(i int) {
	for j := range d.nodes {
		d.cut(i, j)
	}
	d.net.mu.Lock()
	delete(d.net.nodes, d.nodes[i].identity.Node)
	d.net.mu.Unlock()
	d.nodes[i].stop()
}

// join gives two nodes a path, and tells them.
func (d *scenario) join(i, j int) {
	a, b := d.nodes[i], d.nodes[j]
	if i == j || a.stop == nil || b.stop == nil || d.isJoined(i, j) {
		return
	}
	d.net.mu.Lock()
	d.net.ways[pairOf(a.identity.Node, b.identity.Node)] = &way{delay: d.delay}
	d.net.mu.Unlock()
	a.replica.PeerUp(b.identity.Node)
	b.replica.PeerUp(a.identity.Node)
}

func (d *scenario) isJoined(i, j int) bool {
	d.net.mu.Lock()
	defer d.net.mu.Unlock()
	return d.net.ways[pairOf(d.nodes[i].identity.Node, d.nodes[j].identity.Node)] != nil
}

// cut takes the path away, and tells both.
func (d *scenario) cut(i, j int) {
	if i == j || !d.isJoined(i, j) {
		return
	}
	d.silence(i, j)
	d.notice(i, j)
}

// silence takes a path away without either side's noticing.
func (d *scenario) silence(i, j int) {
	d.net.mu.Lock()
	delete(d.net.ways, pairOf(d.nodes[i].identity.Node, d.nodes[j].identity.Node))
	d.net.mu.Unlock()
}

// notice lets both sides know that they have lost each other.
func (d *scenario) notice(i, j int) {
	d.nodes[i].replica.PeerDown(d.nodes[j].identity.Node)
	d.nodes[j].replica.PeerDown(d.nodes[i].identity.Node)
}

// joinAll gives all nodes paths to each other.
func (d *scenario) joinAll() {
	for i := range d.nodes {
		for j := range i {
			d.join(i, j)
		}
	}
}

// wait lets time pass.
//
// What the nodes did until then has happened before what follows.
func (d *scenario) wait(t time.Duration) {
	pause(context.Background(), t)
	synctest.Wait()
}

// put writes a document with a number as its value.
func (m *member) put(kind api.Kind, name string, n int) {
	m.scenario.t.Helper()
	if err := m.writer.Put(ledger.Draft{Kind: kind, Name: name, Value: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}); err != nil {
		m.scenario.t.Fatal(err)
	}
}

// view is what a node holds of kinds that go by themselves.
func (m *member) view() map[api.Key]string {
	all := map[api.Key]string{}
	for _, rec := range m.ledger.List(ledger.Filter{Deleted: true}) {
		if key := rec.Key(); moves(key.Kind) {
			doc := rec.Document()
			all[key] = fmt.Sprint(rec.Version(), string(doc.Value), doc.Deleted)
		}
	}
	return all
}

// anew is what a node holds, of which nothing is kept from before.
func (m *member) anew() inventory {
	r := Replica{options: m.replica.options, ledger: m.ledger, clock: m.replica.clock}
	return r.inventory()
}

// value is what a node holds of a key; empty if nothing.
func (m *member) value(of *member, kind api.Kind, name string) string {
	rec, ok := m.ledger.Get(api.Key{Node: of.identity.Node, Kind: kind, Name: name})
	if !ok {
		return ""
	}
	doc := rec.Document()
	return string(doc.Value)
}

// disagreement says where the views of some nodes differ from what the writers
// among them hold themselves; empty where they do not.
func (d *scenario) disagreement(nodes ...int) string {
	if len(nodes) == 0 {
		for i := range d.nodes {
			nodes = append(nodes, i)
		}
	}
	for _, i := range nodes {
		if m := d.nodes[i]; m.replica.inventory().sum != m.anew().sum {
			return fmt.Sprintf("what %d keeps of what it holds is not what it holds", i)
		}
	}
	first := d.nodes[nodes[0]].view()
	for _, i := range nodes[1:] {
		view := d.nodes[i].view()
		for key, value := range first {
			if view[key] != value {
				return fmt.Sprintf("%v: %d has %q, %d has %q", key, nodes[0], value, i, view[key])
			}
		}
		for key, value := range view {
			if first[key] != value {
				return fmt.Sprintf("%v: %d has %q, %d has %q", key, nodes[0], first[key], i, value)
			}
		}
	}
	return ""
}

// agreedWithin waits until nodes agree, and fails the test where they have not in time.
func (d *scenario) agreedWithin(limit time.Duration, nodes ...int) time.Duration {
	d.t.Helper()
	began := time.Now()
	for {
		problem := d.disagreement(nodes...)
		if problem == "" {
			return time.Since(began)
		}
		if time.Since(began) >= limit {
			d.t.Fatalf("no agreement after %s: %s", limit, problem)
		}
		d.wait(10 * time.Millisecond)
	}
}

// holder is a RosterHolder in memory, and the ledger's Members.
type holder struct {
	mu     sync.Mutex
	roster *cluster.Roster
}

func (h *holder) Current() *cluster.Roster {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.roster
}

func (h *holder) Update(change func(*cluster.Roster) (*cluster.Roster, error)) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next, err := change(h.roster)
	if err != nil || next == h.roster {
		return false, err
	}
	h.roster = next
	return true, nil
}

func (h *holder) PublicKey(n api.NodeID) (ed25519.PublicKey, bool) { return h.Current().PublicKey(n) }
