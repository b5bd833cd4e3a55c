package sidechannel_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/e2e/jaccl"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/daemon/internal/relay/sidechannel"
	"fulmen/native"
	"fulmen/native/memnet"
)

const job = api.JobID("j00000000")

// tick is longer than all that takes no time, and shorter than all that does.
const tick = 150 * time.Millisecond

// pass lets a time pass in a bubble, and all that happens in it happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// scenario is the nodes of one test, in a bubble.
type scenario struct {
	t     *testing.T
	clock native.Clock
	nodes []*node
	plan  []api.NodeID
	mu    sync.Mutex
	lines map[[2]api.NodeID]*memnet.Line
	work  sync.WaitGroup

	programs []*program
}

// node is one of them: its channels, and what they said.
type node struct {
	*machine
	peer.Caller
	scenario *scenario
	id       api.NodeID
	channels *sidechannel.Channels
	handler  func(ctx context.Context, from api.NodeID, first api.PeerConn, conn net.Conn)

	mu       sync.Mutex
	reported map[api.RankRef][]api.Handshake
	failed   map[api.RankRef]*api.Error
	groups   map[api.RankRef]int
	ports    map[int]bool
}

// bubble runs a test with so many nodes.
func bubble(t *testing.T, size int, f func(t *testing.T, d *scenario)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := &scenario{t: t, lines: map[[2]api.NodeID]*memnet.Line{}}
		d.clock = native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) })
		for i := range size {
			n := &node{
				machine: newMachine(), scenario: d, id: api.NodeID(fmt.Sprintf("%016d", i)), reported: map[api.RankRef][]api.Handshake{},
				failed: map[api.RankRef]*api.Error{}, groups: map[api.RankRef]int{}, ports: map[int]bool{},
			}
			d.nodes, d.plan = append(d.nodes, n), append(d.plan, n.id)
			n.boot()
		}
		defer d.end()
		f(t, d)
	})
}

// end ends all that runs, and looks at what must be true of every test then.
func (d *scenario) end() {
	for _, p := range d.programs {
		p.kill()
	}
	for _, n := range d.nodes {
		n.channels.Shut()
	}
	d.work.Wait()
	synctest.Wait()
	for _, n := range d.nodes {
		if len(n.ports) > 0 {
			d.t.Errorf("ports that were not given back: %v", n.ports)
		}
		if n.crowded {
			d.t.Error("rank 0 was connected to while it had no room")
		}
	}
}

func (n *node) boot() {
	var log = slog.DiscardHandler
	if os.Getenv("SIDECHANNEL_LOG") != "" {
		log = slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})
	}
	n.channels = sidechannel.New(sidechannel.Config{
		Peers: n, Machine: n.machine, Clock: n.scenario.clock, Log: slog.New(log),
		Take:    n.take,
		Return:  func(port int) { n.mu.Lock(); delete(n.ports, port); n.mu.Unlock() },
		Group:   func(ref api.RankRef) int { n.mu.Lock(); defer n.mu.Unlock(); return n.groups[ref] },
		Name:    func(id api.NodeID) string { return "node " + id.Display() },
		Account: func(uid uint32) string { return fmt.Sprint("account ", uid) },
		Notify: func(ref api.RankRef, h api.Handshake) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.reported[ref] = append(n.reported[ref], h)
		},
		Fail: func(ref api.RankRef, why *api.Error) {
			n.mu.Lock()
			defer n.mu.Unlock()
			if n.failed[ref] != nil {
				n.scenario.t.Errorf("%s failed twice", ref)
			}
			n.failed[ref] = why
		},
	})
}

func (n *node) take(port int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ports[port] {
		return false
	}
	n.ports[port] = true
	return true
}

func (n *node) HandleStream(h gate.StreamHandler) {
	n.handler = peertest.GateFor(n.id, n.scenario.clock, nil).BindStream(h).Serve
}

func (n *node) Stream(ctx context.Context, to api.NodeID, first api.PeerConn) (net.Conn, error) {
	return n.stream(ctx, n.id, to, first)
}

func (n *node) stream(_ context.Context, from, to api.NodeID, first api.PeerConn) (net.Conn, error) {
	line := n.scenario.line(from, to)
	near, far := line.Pipe(&net.TCPAddr{}, &net.TCPAddr{})
	i := slices.IndexFunc(n.scenario.nodes, func(o *node) bool { return o.id == to })
	if i < 0 {
		return nil, errors.New("no such node")
	}
	n.scenario.work.Go(func() {
		defer far.Close()
		n.scenario.nodes[i].handler(context.Background(), from, first, far)
	})
	return near, nil
}

// line is what joins two nodes.
func (d *scenario) line(a, b api.NodeID) *memnet.Line {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := [2]api.NodeID{min(a, b), max(a, b)}
	if d.lines[key] == nil {
		d.lines[key] = memnet.NewLine(1, memnet.Quality{})
	}
	return d.lines[key]
}

// ref is a rank of the job's first attempt.
func ref(rank int) api.RankRef { return api.RankRef{Job: job, Attempt: 1, Rank: rank} }

// open opens the channel of a rank at its node.
func (d *scenario) open(of api.RankRef) string {
	d.t.Helper()
	at, err := d.nodes[of.Rank].channels.Open(of, 1, d.plan, 2*time.Minute)
	if err != nil {
		d.t.Fatal(err)
	}
	return at.String()
}

// end is how a program ended.
type end struct {
	err   error
	after time.Duration // since the test began
}

// program is one rank's.
type program struct {
	*network
	node    *node
	ref     api.RankRef
	mu      sync.Mutex
	tried   int
	reached []jaccl.Step
	joined  *jaccl.Group
	ended   chan end
}

// run starts the program of a rank, whose channel is open.
func (d *scenario) run(of api.RankRef, coordinator string, at func(p *program, s jaccl.Step)) *program {
	n := d.nodes[of.Rank]
	p := &program{network: n.network(), node: n, ref: of, ended: make(chan end, 1)}
	n.spawned(of, p.network)
	o := jaccl.Options{
		Rank: of.Rank, Devices: mesh(len(d.plan)), Coordinator: coordinator, Network: p.network, Mark: uint64(of.Attempt)<<32 | uint64(of.Job[8]),
		Tried: func(int, time.Duration) { p.mu.Lock(); p.tried++; p.mu.Unlock() },
		At: func(s jaccl.Step) {
			p.mu.Lock()
			p.reached = append(p.reached, s)
			p.mu.Unlock()
			if at != nil {
				at(p, s)
			}
		},
	}
	d.programs = append(d.programs, p)
	d.work.Go(func() {
		g, err := jaccl.Join(p.ctx, o)
		p.mu.Lock()
		p.joined = g
		p.mu.Unlock()
		if err != nil {
			p.kill() // as the system does with what a process had open
		}
		p.ended <- end{err, d.clock.Boot()}
	})
	return p
}

// spawned says that a program is that of a rank.
func (n *node) spawned(of api.RankRef, program *network) {
	n.mu.Lock()
	n.groups[of] = program.number
	n.mu.Unlock()
	n.channels.Spawned(of)
}

// start opens and runs.
func (d *scenario) start(of api.RankRef) *program { return d.run(of, d.open(of), nil) }

// result is how a program's Join ended, which it must have by now.
func (p *program) result(t *testing.T) end {
	t.Helper()
	synctest.Wait()
	select {
	case e := <-p.ended:
		return e
	default:
		t.Fatalf("rank %s is still joining, after %v", p.ref, p.reached)
	}
	return end{}
}

// joins fails the test unless the program has joined.
func (p *program) joins(t *testing.T) end {
	t.Helper()
	e := p.result(t)
	if e.err != nil {
		t.Fatalf("rank %s: %v", p.ref, e.err)
	}
	return e
}

// isOpen reports whether nothing has ended a joined program's side channel.
func (p *program) isOpen(t *testing.T) bool {
	t.Helper()
	p.mu.Lock()
	group := p.joined
	p.mu.Unlock()
	over := make(chan error, 1)
	go func() { over <- group.Watch() }()
	pass(tick)
	select {
	case <-over:
		return false
	default:
		return true
	}
}

// handshake is what was told of a rank last.
func (d *scenario) handshake(of api.RankRef) api.Handshake {
	synctest.Wait()
	n := d.nodes[of.Rank]
	n.mu.Lock()
	defer n.mu.Unlock()
	if reported := n.reported[of]; len(reported) > 0 {
		return reported[len(reported)-1]
	}
	return api.Handshake{State: api.HandshakeNone}
}

// failure is why a rank was ended; "" = it was not.
func (d *scenario) failure(of api.RankRef) api.Reason {
	if e := d.failed(of); e != nil {
		return e.Data.Reason
	}
	return ""
}

func (d *scenario) failed(of api.RankRef) *api.Error {
	synctest.Wait()
	n := d.nodes[of.Rank]
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.failed[of]
}

func mesh(size int) [][][]string {
	all := make([][][]string, size)
	for i := range all {
		all[i] = make([][]string, size)
		for j := range all[i] {
			if i != j {
				all[i][j] = []string{fmt.Sprintf("rdma_en%d", j)}
			}
		}
	}
	return all
}

func loopback(port int) *net.TCPAddr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(port)))
}
