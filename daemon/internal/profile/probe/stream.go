package probe

import (
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"fulmen/native"
)

// streams are the connections of one direction at one end.
type streams struct {
	mu      sync.Mutex
	conns   []net.Conn
	closed  bool
	working sync.WaitGroup
}

// run works on a connection until the streams are closed. broken hears where
// the connection ended before.
func (s *streams) run(conn net.Conn, work func(net.Conn) error, broken func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		drop(conn)
		return
	}
	s.conns = append(s.conns, conn)
	s.working.Go(func() {
		err := work(conn)
		if s.leave(conn) && broken != nil {
			broken(err)
		}
	})
}

// leave takes a connection out, and reports whether it was in.
func (s *streams) leave(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.conns, conn)
	if i < 0 {
		return false
	}
	s.conns = slices.Delete(s.conns, i, i+1)
	drop(conn)
	return true
}

// keep closes the connections after the first so many.
func (s *streams) keep(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.conns) > n {
		last := len(s.conns) - 1
		drop(s.conns[last])
		s.conns = s.conns[:last]
	}
}

// close closes them all and waits for who works on them.
func (s *streams) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.keep(0)
	s.working.Wait()
}

// drop closes a connection at once: what it still holds is of no use, and would
// be in the way of what is measured next.
func drop(conn net.Conn) {
	if tcp, ok := conn.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// fill writes until the connection ends, and tells what it writes: before it
// does, since it may have arrived when the system says that it is written, and
// afterwards, less than nothing, where not all of it was.
func fill(data []byte, wrote func(n int)) func(net.Conn) error {
	return func(conn net.Conn) error {
		for {
			wrote(len(data))
			if n, err := conn.Write(data); err != nil {
				wrote(n - len(data))
				return err
			}
		}
	}
}

// drain reads until the connection ends, and tells what it read.
func drain(read func(n int)) func(net.Conn) error {
	return func(conn net.Conn) error {
		buffer := make([]byte, chunk)
		for {
			n, err := conn.Read(buffer)
			if n > 0 {
				read(n)
			}
			if err != nil {
				return err
			}
		}
	}
}

// noise is a chunk that no tunnel can compress.
func noise() []byte {
	data := make([]byte, chunk)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data) // never fails
	return data
}

// resent is how many segments the system has sent again on a connection;
// unknownCount where it does not tell.
func resent(conn net.Conn) uint64 {
	count := unknownCount
	if socket, ok := conn.(syscall.Conn); ok {
		if raw, err := socket.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { // where that fails nothing is told
				if n, ok := resentBy(int(fd)); ok {
					count = n
				}
			})
		}
	}
	return count
}

// counter adds up what the connections of a direction received, and tells of
// it when it grows: nobody has to wake up to look.
type counter struct {
	clock native.Clock
	// notify gets a count every millisecond at first, and later every 10 ms, one
	// at a time.
	notify func(count)

	total atomic.Int64
	next  atomic.Int64 // the time of the next count

	mu    sync.Mutex // held while a count is told
	begun bool
	start time.Duration
}

// add is told what was read.
func (c *counter) add(n int) {
	c.total.Add(int64(n))
	now := c.clock.Boot()
	if int64(now) < c.next.Load() || !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if int64(now) < c.next.Load() {
		return
	}
	if !c.begun {
		c.begun, c.start = true, now
	}
	at := now - c.start
	c.next.Store(int64(now + min(max(at/16, time.Millisecond), 10*time.Millisecond)))
	c.notify(count{at: at, bytes: c.total.Load()})
}
