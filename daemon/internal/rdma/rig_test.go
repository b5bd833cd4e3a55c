package rdma

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

const (
	nodeA = api.NodeID("axwfk1even66ca3j")
	nodeB = api.NodeID("csm7nbfrcayqev4e")
	nodeC = api.NodeID("j79r4zr55xd4ph64")
)

func cable(a api.NodeID, port api.PortNumber, b api.NodeID, other api.PortNumber) api.LinkID {
	link, err := api.NewLinkID(api.LinkEnd{Node: a, PortNumber: port}, api.LinkEnd{Node: b, PortNumber: other})
	if err != nil {
		panic(err)
	}
	return link
}

// table is Macs on a desk, each with what outlives its daemon.
type table struct {
	t        testing.TB
	scenario *peertest.Network
	clock    native.Clock
	hosts    map[api.NodeID]*host
	prove    func(api.LinkID) error
	after    func() // ends what hosts have beside their daemons; nil: nothing

	mu    sync.Mutex
	ticks int           // how often something outside of a daemon was touched
	fatal int           // at which of them somebody dies
	dies  api.NodeID    // who
	death func(h *host) // how
}

// host is one Mac: its network, its disk, and the daemon of now.
type host struct {
	table *table
	id    api.NodeID
	mac   *mac
	// machine is the mac, or another network that the host has instead.
	machine machine

	mu         sync.Mutex
	disk       []byte
	log        []api.RDMAChange
	docs       map[api.LinkID]api.RDMAChange
	conditions map[string]string
	refuses    api.Reason
	check      *api.Error
	busy       *api.Error
	quiet      func(context.Context, api.PortNumber) *api.Error
	full       bool // the disk
	idle       int  // how often it was said that nothing may be changed any more
	pathless   int  // how many calls from now on find no path
	life       *life
}

// machine is a Mac's network: it goes on while daemons come and go.
type machine interface {
	Facts
	native.NetworkActions
	// follow sets who hears of every change.
	follow(f func())
	// picture is all that could be left behind.
	picture() string
}

// life is one run of a host's daemon.
type life struct {
	host  *host
	owner *Owner
	mu    sync.Mutex
	dead  bool
}

func newTable(t testing.TB, nodes ...api.NodeID) *table {
	return newTableOf(t, func(m *mac) machine { return m }, nodes...)
}

// newTableOf has other networks than those of Macs.
func newTableOf(t testing.TB, of func(*mac) machine, nodes ...api.NodeID) *table {
	start := time.Now()
	d := &table{t: t, scenario: peertest.NewNetwork(), clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(start) }), hosts: map[api.NodeID]*host{}}
	for _, id := range nodes {
		m := newMac()
		d.hosts[id] = &host{table: d, id: id, mac: m, machine: of(m), docs: map[api.LinkID]api.RDMAChange{}, conditions: map[string]string{}}
		d.hosts[id].boot()
	}
	return d
}

// close ends every daemon.
func (d *table) close() {
	for _, h := range d.hosts {
		h.kill()
	}
	if d.after != nil {
		d.after()
	}
}

func (h *host) boot() {
	l := &life{host: h}
	l.owner = New(Config{
		Node: h.id, Clock: h.table.clock, Peers: reach{peer.New(h.id, h.table.scenario.Add(h.id), peertest.GateFor(h.id, h.table.clock, nil)), l}, Facts: l, Network: l, Records: l, History: history{l},
		Documents: l, Conditions: l, Name: func(id api.NodeID) string { return string(id[:4]) },
		Allowed: func(from api.NodeID) api.Reason {
			h.mu.Lock()
			defer h.mu.Unlock()
			if from == h.id {
				return ""
			}
			return h.refuses
		},
		Check: func(api.LinkID) *api.Error { h.mu.Lock(); defer h.mu.Unlock(); return h.check },
		Busy:  func() *api.Error { h.mu.Lock(); defer h.mu.Unlock(); return h.busy },
		Idle:  func() { h.mu.Lock(); defer h.mu.Unlock(); h.idle++ },
		Quiet: func(ctx context.Context, r api.PortNumber) *api.Error {
			h.mu.Lock()
			quiet := h.quiet
			h.mu.Unlock()
			if quiet == nil {
				return nil
			}
			return quiet(ctx, r)
		},
		Others: func(node api.NodeID, link api.LinkID) (api.RDMAChange, bool) {
			if !h.table.scenario.Joined(h.id, node) {
				return api.RDMAChange{}, false
			}
			return h.table.hosts[node].reported(link)
		},
		Able: func(native.Feature) error { return nil },
		Log:  slog.New(slog.DiscardHandler),
		Prove: func(_ context.Context, link api.LinkID) error {
			if h.table.prove == nil {
				return nil
			}
			return h.table.prove(link)
		},
	})
	h.mu.Lock()
	h.life = l
	h.mu.Unlock()
	h.machine.follow(func() { l.owner.Look(true) })
	if err := l.owner.Start(); err != nil {
		h.table.t.Error(err)
	}
	// What it says arrives when it is back; what others have said it reads by itself.
	for _, other := range h.table.hosts {
		if other != h {
			other.receive(h)
		}
	}
}

// setQuiet sets what a change at this host waits for.
func (h *host) setQuiet(f func(context.Context, api.PortNumber) *api.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.quiet = f
}

// kill ends the daemon as kill -9 does: nothing that it does from now on counts.
func (h *host) kill() {
	h.mu.Lock()
	l := h.life
	h.mu.Unlock()
	l.die()
	l.owner.Close()
}

func (l *life) die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.dead {
		l.dead = true
		l.host.table.scenario.Remove(l.host.id)
	}
}

// touch is before and after everything by which a daemon touches the world outside.
func (l *life) touch() error {
	d := l.host.table
	d.mu.Lock()
	d.ticks++
	hit := d.ticks == d.fatal
	victim, death := d.hosts[d.dies], d.death
	d.mu.Unlock()
	if hit {
		death(victim)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return errDead
	}
	return nil
}

func (l *life) around(f func() error) error {
	if err := l.touch(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return l.touch()
}

// reported is what a host said of a cable last.
func (h *host) reported(link api.LinkID) (api.RDMAChange, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one, known := h.docs[link]
	return one, known
}

// receive takes what another host says, if the two are joined.
func (h *host) receive(other *host) {
	if !h.table.scenario.Joined(h.id, other.id) {
		return
	}
	other.mu.Lock()
	var all []api.RDMAChange
	for _, one := range other.docs {
		all = append(all, one)
	}
	other.mu.Unlock()
	h.mu.Lock()
	l := h.life
	h.mu.Unlock()
	for _, one := range all {
		l.owner.PeerChanged(other.id, one)
	}
}

// Put is the Documents': others hear of it a moment later.
func (l *life) Put(_ api.Kind, _ string, value any, _ map[string]api.Reason) error {
	return l.around(func() error {
		one := value.(api.RDMAChange)
		l.host.mu.Lock()
		l.host.docs[one.Link] = one
		l.host.mu.Unlock()
		for _, other := range l.host.table.hosts {
			if other != l.host {
				time.AfterFunc(20*time.Millisecond, func() { other.receive(l.host) })
			}
		}
		return nil
	})
}

// Delete is the Documents': no life is begun without its record.
func (l *life) Delete(api.Kind, string) error { return nil }

// Hold is the Conditions'.
func (l *life) Hold(code api.Reason, _ string, holds bool, detail string) {
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	delete(l.host.conditions, string(code))
	if holds {
		l.host.conditions[string(code)] = detail
	}
}

func (h *host) condition(code api.Reason) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	detail, is := h.conditions[string(code)]
	return detail, is
}

// Load and Save are the Records', of bytes as on a disk.
func (l *life) Load() ([]change.Record, error) {
	l.host.mu.Lock()
	defer l.host.mu.Unlock()
	if l.host.disk == nil {
		return nil, nil
	}
	return ParseUndo(l.host.disk)
}

func (l *life) Save(all []change.Record) error {
	return l.around(func() error {
		raw, err := json.Marshal(undoFile{Version: undoVersion, Changes: all})
		l.host.mu.Lock()
		defer l.host.mu.Unlock()
		if l.host.full {
			return api.NewError(api.ReasonDiskFull, "disk")
		}
		l.host.disk = raw
		return err
	})
}

// history is the host's audit log.
type history struct{ *life }

func (h history) Load() ([]api.RDMAChange, error) {
	h.host.mu.Lock()
	defer h.host.mu.Unlock()
	return slices.Clone(h.host.log), nil
}

func (h history) Save(all []api.RDMAChange) error {
	return h.around(func() error {
		h.host.mu.Lock()
		defer h.host.mu.Unlock()
		h.host.log = all
		return nil
	})
}

// Snapshot is the Facts'.
func (l *life) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	l.mu.Lock()
	dead := l.dead
	l.mu.Unlock()
	if dead {
		return native.Snapshot{}, errDead
	}
	return l.host.machine.Snapshot(ctx, areas...)
}

// CreateService, DeleteService and SetBridgeMember are the machine's.
func (l *life) CreateService(ctx context.Context, spec native.ServiceSpec) (s native.NetworkService, err error) {
	err = l.around(func() error { s, err = l.host.machine.CreateService(ctx, spec); return err })
	return s, err
}

func (l *life) DeleteService(ctx context.Context, expected native.NetworkService) error {
	return l.around(func() error { return l.host.machine.DeleteService(ctx, expected) })
}

func (l *life) SetBridgeMember(ctx context.Context, bridge, iface string, member bool) error {
	return l.around(func() error { return l.host.machine.SetBridgeMember(ctx, bridge, iface, member) })
}

// reach is calls between the hosts.
type reach struct {
	*peer.Peers
	life *life
}

func (r reach) Call(ctx context.Context, node api.NodeID, method string, params, result any) error {
	h := r.life.host
	h.mu.Lock()
	hasPath := h.pathless == 0
	h.pathless = max(0, h.pathless-1)
	h.mu.Unlock()
	if !hasPath {
		return api.NewError(api.ReasonNoPath, node.Display())
	}
	return r.life.around(func() error { return r.Peers.Call(ctx, node, method, params, result) })
}

// owner is the daemon's of now.
func (d *table) owner(id api.NodeID) *Owner {
	h := d.hosts[id]
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.life.owner
}

// state is what a host keeps of a cable; empty where nothing.
func (d *table) state(id api.NodeID, link api.LinkID) (api.RDMAChangeState, string) {
	if r := d.owner(id).current(link); r != nil {
		return r.State, r.Change
	}
	return "", ""
}
