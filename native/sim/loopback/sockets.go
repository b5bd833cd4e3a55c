package loopback

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"

	"fulmen/native"
)

// Sockets are the sockets of a simulated Mac. All methods may be called from any
// goroutine.
type Sockets struct {
	exchange Exchange

	mu     sync.Mutex
	ended  error // set when no more may be opened
	things map[thing]struct{}
}

// thing is a listener or a connection.
type thing interface {
	io.Closer
	breakWith(err error)
}

var _ native.Sockets = (*Sockets)(nil)

// New makes the sockets of the Mac to which an exchange belongs.
func New(exchange Exchange) *Sockets {
	return &Sockets{exchange: exchange, things: map[thing]struct{}{}}
}

// Close closes every listener and connection; there are no more after it.
func (s *Sockets) Close() error {
	for _, t := range s.end(native.ErrClosed) {
		_ = t.Close()
	}
	return nil
}

// Break breaks every connection and ends every listener with an error, as when
// the desk is gone. Whoever has them still closes them.
func (s *Sockets) Break(err error) {
	for _, t := range s.end(err) {
		t.breakWith(err)
	}
}

// end lets nothing more be opened and gives what is open.
func (s *Sockets) end(why error) []thing {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = why
	}
	var all []thing
	for t := range s.things {
		all = append(all, t)
	}
	return all
}

// add keeps a thing, unless the sockets have ended.
func (s *Sockets) add(t thing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.things[t] = struct{}{}
	}
	return s.ended
}

func (s *Sockets) remove(t thing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.things, t)
}

// Dial is that of [native.Sockets].
func (s *Sockets) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error) {
	c, err := s.dial(ctx, iface, source, to)
	if err != nil {
		return nil, failed("dial", to, err)
	}
	return c, nil
}

func (s *Sockets) dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (*conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gate := newGate()
	flow, err := s.exchange.Connect(ctx, iface, source, to, gate.set)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{KeepAlive: -1} // the exchange tells when a path goes
	tcp, err := dialer.DialContext(ctx, "tcp4", flow.At.String())
	if err == nil {
		// It fits into the kernel's buffer, so that this does not wait.
		_, err = io.WriteString(tcp, flow.Token)
	}
	var c *conn
	if err == nil {
		c, err = s.keep(tcp, gate, flow)
	}
	if err != nil {
		flow.Close()
		if tcp != nil {
			_ = tcp.Close()
		}
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err // with the simulated address instead
		}
		return nil, err
	}
	return c, nil
}

// keep makes a connection of this Mac.
func (s *Sockets) keep(tcp net.Conn, gate *gate, flow Flow) (*conn, error) {
	var c *conn
	c = newConn(tcp.(*net.TCPConn), gate, flow, func() {
		s.remove(c)
		flow.Close()
	})
	if err := s.add(c); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *conn) breakWith(err error) { c.gate.breakWith(err) }

// failed is an error of the network about a simulated address.
func failed(what string, at netip.AddrPort, err error) error {
	if number, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(what, number)
	}
	return &net.OpError{Op: what, Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: err}
}
