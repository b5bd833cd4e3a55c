package loopback

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// conn is one end of a connection.
type conn struct {
	tcp           *net.TCPConn
	local, remote *net.TCPAddr
	once          sync.Once
	leave         func() // is called when it is closed

	mu      sync.Mutex // of what follows, and around what is set of the kernel's socket
	cut     bool       // what arrives may not pass
	broken  error
	readBy  time.Time     // while it is cut; else the kernel keeps it
	changed chan struct{} // closed when anything of this changes

	// What came while it was cut, and the error after it. Guarded by reading, which
	// is held by whoever reads.
	reading sync.Mutex
	held    []byte
	heldErr error
}

// newConn makes an end of a connection that is not there yet.
func newConn() *conn { return &conn{changed: make(chan struct{})} }

// open gives it the kernel's socket.
func (c *conn) open(tcp *net.TCPConn, flow Flow, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tcp, c.leave = tcp, leave
	c.local, c.remote = net.TCPAddrFromAddrPort(flow.Local), net.TCPAddrFromAddrPort(flow.Remote)
	if c.broken != nil {
		c.letGoLocked()
	}
}

// longPast is a time at which nothing can be waited for.
func longPast() time.Time { return time.Unix(1, 0) }

// set is called by the exchange when the path changes.
func (c *conn) set(s State) {
	if s == Dead {
		c.breakWith(syscall.ETIMEDOUT)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = s == Cut
	c.wakeLocked()
}

// breakWith ends the connection for good; the first reason stays.
func (c *conn) breakWith(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return
	}
	c.broken = err
	c.wakeLocked()
	if c.tcp != nil {
		c.letGoLocked()
	}
}

func (c *conn) letGoLocked() {
	_ = c.tcp.SetLinger(0)            // the other end is not to see an orderly end
	_ = c.tcp.SetDeadline(longPast()) // lets go who waits in the kernel
}

// wakeLocked lets who waits look again.
func (c *conn) wakeLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// state tells how the path is.
func (c *conn) state() (cut bool, broken error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut, c.broken
}

// Read implements [net.Conn]. What arrives while the path is cut is given when it
// is whole again.
func (c *conn) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	for {
		if err := c.pass(); err != nil {
			return 0, c.named("read", err)
		}
		if n := copy(p, c.held); n > 0 {
			c.held = c.held[n:]
			return n, nil
		}
		if err := c.heldErr; err != nil {
			return 0, c.named("read", err)
		}
		n, err := c.tcp.Read(p)
		cut, broken := c.state()
		if !cut && broken == nil {
			return n, c.named("read", err)
		}
		c.held = append(c.held, p[:n]...)
		if !isTimeout(err) { // those are the deadline's, or say that it broke
			c.heldErr = err
		}
	}
}

// pass waits until the path is whole.
func (c *conn) pass() error {
	for {
		c.mu.Lock()
		cut, broken, by, changed := c.cut, c.broken, c.readBy, c.changed
		c.mu.Unlock()
		switch {
		case broken != nil:
			return broken
		case !by.IsZero() && time.Until(by) <= 0:
			return os.ErrDeadlineExceeded
		case !cut:
			return nil
		}
		var due <-chan time.Time
		if !by.IsZero() {
			due = time.After(time.Until(by))
		}
		select {
		case <-due:
		case <-changed:
		}
	}
}

// Write implements [net.Conn]. While the path is cut the kernel takes what it has
// room for.
func (c *conn) Write(p []byte) (int, error) {
	if _, broken := c.state(); broken != nil {
		return 0, c.named("write", broken)
	}
	n, err := c.tcp.Write(p)
	if _, broken := c.state(); err != nil && broken != nil {
		err = broken
	}
	return n, c.named("write", err)
}

// named gives an error the simulated addresses.
func (c *conn) named(what string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return &net.OpError{Op: what, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// Close ends both directions.
func (c *conn) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		err = c.tcp.Close()
		c.breakWith(net.ErrClosed) // for who waits for the path
		c.leave()
	})
	return c.named("close", err)
}

// CloseWrite ends one direction.
func (c *conn) CloseWrite() error { return c.named("close", c.tcp.CloseWrite()) }

// LocalAddr is this end's simulated *net.TCPAddr.
func (c *conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is the other end's.
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(at time.Time) error {
	return errors.Join(c.SetReadDeadline(at), c.SetWriteDeadline(at))
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil
	}
	c.readBy = at
	c.wakeLocked()
	return c.named("set", c.tcp.SetReadDeadline(at))
}

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return nil
	}
	return c.named("set", c.tcp.SetWriteDeadline(at))
}
