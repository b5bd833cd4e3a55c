package sim

import (
	"context"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"fulmen/native"
	"fulmen/native/memnet"
	"fulmen/native/sim/loopback"
)

// memory is the sockets of one Mac in a world that is in memory.
type memory struct {
	h *handle

	mu     sync.Mutex
	closed bool
	things map[closer]struct{}
}

type closer interface{ Close() error }

// memoryListener takes connections in memory.
type memoryListener struct {
	memory *memory
	door   *door
	coming chan *memoryConn
	done   chan struct{}
	once   sync.Once
}

// memoryConn is one end of a connection in memory, with its own view of the
// addresses.
type memoryConn struct {
	*memnet.Conn
	local, remote net.Addr
	once          sync.Once
	leave         func()
}

// Listen is that of [native.Sockets].
func (m *memory) Listen(ctx context.Context, iface string, at netip.AddrPort) (net.Listener, error) {
	l := &memoryListener{memory: m, coming: make(chan *memoryConn, 128), done: make(chan struct{})}
	l.door = &door{iface: iface, address: at.Addr(), port: int(at.Port()), take: l.take}
	err := ctx.Err()
	if err == nil {
		err = m.h.open(l.door)
	}
	if err == nil {
		err = m.add(l)
	}
	if err != nil {
		_ = l.Close()
		return nil, memoryFailed("listen", nil, err)
	}
	return l, nil
}

// take is called with the world's lock held.
func (l *memoryListener) take(c *memnet.Conn, f *flow) bool {
	select {
	case <-l.done:
		return false
	case l.coming <- l.memory.conn(c, f, 1):
		return true
	default:
		return false
	}
}

// Dial is that of [native.Sockets].
func (m *memory) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, memoryFailed("dial", net.TCPAddrFromAddrPort(to), err)
	}
	var own *memoryConn
	err := m.h.connect(ctx, iface, source, to, func(f *flow, d *door) error {
		line := memnet.NewLine(0, memnet.Quality{})
		near, far := line.Pipe(net.TCPAddrFromAddrPort(f.local(0)), net.TCPAddrFromAddrPort(f.remote(0)))
		// The line breaks its connections itself, after the same time.
		changed := func(s loopback.State) { line.SetCut(s != loopback.Whole) }
		f.ends[0].changed, f.ends[1].changed = changed, changed
		own = m.conn(near, f, 0)
		if d.take == nil || !d.take(far, f) {
			return syscall.ECONNREFUSED
		}
		return nil
	})
	if err == nil {
		err = m.add(own)
	}
	if err != nil {
		if own != nil {
			_ = own.Close()
		}
		return nil, memoryFailed("dial", net.TCPAddrFromAddrPort(to), err)
	}
	return own, nil
}

// conn makes an end of a connection.
func (m *memory) conn(c *memnet.Conn, f *flow, end int) *memoryConn {
	own := &memoryConn{Conn: c, local: net.TCPAddrFromAddrPort(f.local(end)), remote: net.TCPAddrFromAddrPort(f.remote(end))}
	own.leave = func() {
		m.remove(own)
		m.h.world.hangUp(f, end)
	}
	return own
}

// LocalAddr is this end's simulated *net.TCPAddr.
func (c *memoryConn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is the other end's.
func (c *memoryConn) RemoteAddr() net.Addr { return c.remote }

// Close ends both directions.
func (c *memoryConn) Close() error {
	c.once.Do(func() {
		_ = c.Conn.Close()
		c.leave()
	})
	return nil
}

// Accept is that of net.Listener.
func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.coming:
		if err := l.memory.add(c); err != nil {
			_ = c.Close()
			return nil, memoryFailed("accept", l.Addr(), err)
		}
		return c, nil
	case <-l.done:
		return nil, memoryFailed("accept", l.Addr(), net.ErrClosed)
	}
}

// Close ends it; connections that nobody accepted are closed.
func (l *memoryListener) Close() error {
	l.once.Do(func() {
		l.memory.remove(l)
		l.memory.h.shut(l.door) // nothing is taken after it
		close(l.done)
		for {
			select {
			case c := <-l.coming:
				_ = c.Close()
				continue
			default:
			}
			return
		}
	})
	return nil
}

// Addr is the simulated address and port.
func (l *memoryListener) Addr() net.Addr {
	return loopback.Listening(l.door.iface, l.door.address, l.door.port)
}

// Close closes every listener and connection; there are no more after it.
func (m *memory) Close() error {
	m.mu.Lock()
	m.closed = true
	var all []closer
	for c := range m.things {
		all = append(all, c)
	}
	m.mu.Unlock()
	for _, c := range all {
		_ = c.Close()
	}
	return nil
}

func (m *memory) add(c closer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return native.ErrClosed
	}
	m.things[c] = struct{}{}
	return nil
}

func (m *memory) remove(c closer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.things, c)
}

func memoryFailed(what string, at net.Addr, err error) error {
	if number, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(what, number)
	}
	return &net.OpError{Op: what, Net: "tcp", Addr: at, Err: err}
}
