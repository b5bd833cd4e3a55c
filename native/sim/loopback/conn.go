package loopback

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"fulmen/native/memnet"
)

// conn is one end of a connection.
type conn struct {
	tcp           *net.TCPConn
	gate          *gate
	local, remote *net.TCPAddr
	reads         *memnet.Deadline // while the gate is shut; else the kernel keeps it
	once          sync.Once
	leave         func()

	// What came while the gate was shut, and the error after it. Guarded by
	// reading, which is held by whoever reads.
	reading sync.Mutex
	held    []byte
	heldErr error
}

// newConn makes an end of a connection; leave is called when it is closed.
func newConn(tcp *net.TCPConn, gate *gate, flow Flow, leave func()) *conn {
	c := &conn{
		tcp: tcp, gate: gate, reads: memnet.NewDeadline(), leave: leave,
		local: net.TCPAddrFromAddrPort(flow.Local), remote: net.TCPAddrFromAddrPort(flow.Remote),
	}
	gate.whenBroken(func() {
		_ = tcp.SetLinger(0)            // the other end is not to see an orderly end
		_ = tcp.SetDeadline(longPast()) // lets go who waits in the kernel
	})
	return c
}

// longPast is a time at which nothing can be waited for.
func longPast() time.Time { return time.Unix(1, 0) }

// Read is that of net.Conn. What arrives while the path is cut is given when it
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
		cut, _, broken := c.gate.look()
		if !cut && broken == nil {
			return n, c.named("read", err)
		}
		c.held = append(c.held, p[:n]...)
		if !isTimeout(err) { // those are the deadline's, or say that it broke
			c.heldErr = err
		}
	}
}

// pass waits until the gate is open.
func (c *conn) pass() error {
	for {
		over := c.reads.Over()
		cut, changed, broken := c.gate.look()
		if broken != nil {
			return broken
		}
		select {
		case <-over:
			return c.reads.Err()
		default:
		}
		if !cut {
			return nil
		}
		select {
		case <-over:
		case <-changed:
		}
	}
}

// Write is that of net.Conn. While the path is cut the kernel takes what it has
// room for.
func (c *conn) Write(p []byte) (int, error) {
	if _, _, broken := c.gate.look(); broken != nil {
		return 0, c.named("write", broken)
	}
	n, err := c.tcp.Write(p)
	if _, _, broken := c.gate.look(); err != nil && broken != nil {
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
		c.reads.Close()
		err = c.tcp.Close()
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

// SetDeadline is that of net.Conn.
func (c *conn) SetDeadline(at time.Time) error {
	return errors.Join(c.SetReadDeadline(at), c.SetWriteDeadline(at))
}

// SetReadDeadline is that of net.Conn.
func (c *conn) SetReadDeadline(at time.Time) error {
	c.reads.Set(at)
	return c.gate.unlessBroken(func() error { return c.named("set", c.tcp.SetReadDeadline(at)) })
}

// SetWriteDeadline is that of net.Conn.
func (c *conn) SetWriteDeadline(at time.Time) error {
	return c.gate.unlessBroken(func() error { return c.named("set", c.tcp.SetWriteDeadline(at)) })
}
