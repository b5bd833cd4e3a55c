package sidechannel_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"

	"fulmen/native"
	"fulmen/native/memnet"
)

// machine is the loopback of a node: ports with their listeners, and whose each
// connection is. Nobody's group is 0, and the daemon's.
type machine struct {
	native.NoProcesses // for what nobody asks here

	line *memnet.Line

	mu        sync.Mutex
	listeners []*listener
	owners    map[netip.AddrPort]int // of near ends of connections
	called    map[netip.AddrPort]int // the port that each is to
	port      int                    // given out last to a caller
	groups    int
	room      int  // of a listener, for callers that wait; 0 = for one, as JACCL has on Linux
	looks     int  // how often it was asked who listens at a port at which somebody does
	crowded   bool // somebody was called who had no room
	blind     error
	torn      int // so many looks find a listener and nobody who has it
}

func newMachine() *machine {
	return &machine{line: memnet.NewLine(1, memnet.Quality{}), owners: map[netip.AddrPort]int{}, called: map[netip.AddrPort]int{}, port: 40000}
}

// listener is one at a port.
type listener struct {
	m      *machine
	group  int
	port   int
	queue  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (m *machine) listen(group, port int, shared bool) (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !shared && slices.ContainsFunc(m.listeners, func(l *listener) bool { return l.port == port }) {
		return nil, syscall.EADDRINUSE
	}
	l := &listener{m: m, group: group, port: port, queue: make(chan net.Conn, 2048), closed: make(chan struct{})}
	m.listeners = append(m.listeners, l)
	return l, nil
}

// Listen implements sidechannel.Machine.
func (m *machine) Listen(port int) (net.Listener, error) { return m.listen(0, port, false) }

// Dial implements sidechannel.Machine.
func (m *machine) Dial(_ context.Context, port int) (net.Conn, error) { return m.dial(0, port) }

func (m *machine) dial(group, port int) (net.Conn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.listeners, func(l *listener) bool { return l.port == port })
	if i < 0 {
		return nil, syscall.ECONNREFUSED
	}
	l := m.listeners[i]
	m.crowded = m.crowded || group == 0 && len(l.queue) >= max(1, m.room)
	m.port++
	near, far := m.line.Pipe(loopback(m.port), loopback(port))
	from := near.LocalAddr().(*net.TCPAddr).AddrPort()
	m.owners[from], m.called[from] = group, port
	l.queue <- far
	return near, nil
}

// Callers tells of all that ever connected to a port.
func (m *machine) Callers(at netip.AddrPort) (all []netip.AddrPort, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for from, port := range m.called {
		if port == int(at.Port()) {
			all = append(all, from)
		}
	}
	return all, nil
}

// Program tells who connected, by its group.
func (m *machine) Program(local, _ netip.AddrPort) (int, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	group, known := m.owners[local]
	if !known {
		return 0, "", native.ErrNoOwner
	}
	return group, "stranger", nil
}

// Owner is one account.
func (m *machine) Owner(local, remote netip.AddrPort) (uint32, error) {
	_, _, err := m.Program(local, remote)
	return 501, err
}

// Listens tells who listens at a port.
func (m *machine) Listens(group, port int, _ native.Listening) (native.Listening, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out native.Listening
	for _, l := range m.listeners {
		switch {
		case l.port != port:
		case m.torn > 0:
			m.torn--
			out.Others = true
		case l.group == group:
			out.Group, out.Room = true, max(0, max(1, m.room)-len(l.queue))
			m.looks++
		default:
			out.Others = true
		}
	}
	return out, m.blind
}

// Holds tells whose a connection is.
func (m *machine) Holds(group int, local, _ netip.AddrPort) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	owner, known := m.owners[local]
	return known && owner == group, nil
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.m.mu.Lock()
		defer l.m.mu.Unlock()
		l.m.listeners = slices.DeleteFunc(l.m.listeners, func(o *listener) bool { return o == l })
		for {
			select {
			case c := <-l.queue:
				c.Close()
			default:
				return
			}
		}
	})
	return nil
}

func (l *listener) Addr() net.Addr { return loopback(l.port) }

// network is the loopback as one program has it, which can be killed.
type network struct {
	*machine
	ctx    context.Context
	cancel context.CancelFunc
	number int

	own    sync.Mutex
	opened []interface{ Close() error }
	dead   bool
}

func (m *machine) network() *network {
	m.mu.Lock()
	m.groups++
	n := &network{machine: m, number: m.groups}
	m.mu.Unlock()
	n.ctx, n.cancel = context.WithCancel(context.Background())
	return n
}

// Listen is JACCL's: it shares its port.
func (n *network) Listen(address string) (net.Listener, error) {
	l, err := n.listen(n.number, portOf(address), true)
	if err != nil {
		return nil, err
	}
	tracked := &trackedListener{l, n}
	return tracked, n.track(l)
}

// Dial is JACCL's.
func (n *network) Dial(_ context.Context, address string) (net.Conn, error) {
	conn, err := n.dial(n.number, portOf(address))
	if err != nil {
		return nil, err
	}
	return conn, n.track(conn)
}

func portOf(address string) int { return int(netip.MustParseAddrPort(address).Port()) }

// track closes what a program has open when it is killed.
func (n *network) track(c interface{ Close() error }) error {
	n.own.Lock()
	defer n.own.Unlock()
	if n.dead {
		c.Close()
		return errors.New("the program is dead")
	}
	n.opened = append(n.opened, c)
	return nil
}

// kill ends the program: everything that it has open is closed.
func (n *network) kill() {
	n.cancel()
	n.own.Lock()
	defer n.own.Unlock()
	n.dead = true
	for _, c := range n.opened {
		c.Close()
	}
}

type trackedListener struct {
	net.Listener
	n *network
}

func (l *trackedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn, l.n.track(conn)
}
