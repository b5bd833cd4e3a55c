package memnet

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Conn is one end of a connection. It has the methods of *net.TCPConn that
// matter, CloseWrite among them.
type Conn struct {
	line          *Line
	local, remote net.Addr
	in, out       *half
	peer          *Conn
	once          sync.Once
	sentBytes     *atomic.Int64
	sentPackets   *atomic.Int64
}

// Pipe makes both ends of a connection over a line.
func (l *Line) Pipe(a, b net.Addr) (ofA, ofB *Conn) {
	there, back := newHalf(l), newHalf(l)
	ofA = &Conn{line: l, local: a, remote: b, in: back, out: there}
	ofB = &Conn{line: l, local: b, remote: a, in: there, out: back}
	ofA.peer, ofB.peer = ofB, ofA
	for _, c := range []*Conn{ofA, ofB} {
		c.sentBytes, c.sentPackets = new(atomic.Int64), new(atomic.Int64)
		l.join(c)
	}
	return ofA, ofB
}

// Read implements [net.Conn].
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.named("read", err)
}

// Write implements [net.Conn].
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	c.sentBytes.Add(int64(n))
	c.sentPackets.Add(1)
	return n, c.named("write", err)
}

// named makes an error one of the network, except the end of the file.
func (c *Conn) named(what string, err error) error {
	switch err {
	case nil:
		return nil
	case io.EOF:
		return err
	}
	return &net.OpError{Op: what, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close ends both directions: the other side reads what was sent, then the end.
func (c *Conn) Close() error {
	c.once.Do(func() {
		c.out.end()
		c.in.close(&c.in.reader)
		c.out.close(&c.out.writer)
		c.line.leave(c)
		c.in.breakWith(syscall.EPIPE) // what the peer still sends is reset
	})
	return nil
}

// CloseWrite ends one direction.
func (c *Conn) CloseWrite() error {
	c.out.end()
	return nil
}

func (c *Conn) breakWith(err error) {
	c.in.breakWith(err)
	c.out.breakWith(err)
}

// LocalAddr is this end's *net.TCPAddr.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is the other end's.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements [net.Conn].
func (c *Conn) SetDeadline(at time.Time) error {
	return errors.Join(c.SetReadDeadline(at), c.SetWriteDeadline(at))
}

// SetReadDeadline implements [net.Conn].
func (c *Conn) SetReadDeadline(at time.Time) error { return c.in.limit(&c.in.reader, at) }

// SetWriteDeadline implements [net.Conn].
func (c *Conn) SetWriteDeadline(at time.Time) error { return c.out.limit(&c.out.writer, at) }
