package loopback

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
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
// the cluster is gone. Whoever has them still closes them.
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
	return slices.Collect(maps.Keys(s.things))
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

// Dial implements [native.Sockets].
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
	c := newConn()
	flow, err := s.exchange.Connect(ctx, iface, source, to, c.set)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{KeepAlive: -1} // the exchange tells when a path goes
	tcp, err := dialer.DialContext(ctx, "tcp4", flow.At.String())
	if err == nil {
		// It fits into the kernel's buffer, so that this does not wait.
		_, err = io.WriteString(tcp, flow.Token)
	}
	if err == nil {
		err = s.keep(c, tcp, flow)
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

// keep makes it a connection of this Mac.
func (s *Sockets) keep(c *conn, tcp net.Conn, flow Flow) error {
	c.open(tcp.(*net.TCPConn), flow, func() {
		s.remove(c)
		flow.Close()
	})
	return s.add(c)
}

// failed is an error of the network about a simulated address.
func failed(what string, at netip.AddrPort, err error) error {
	if number, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(what, number)
	}
	return &net.OpError{Op: what, Net: "tcp", Addr: net.TCPAddrFromAddrPort(at), Err: err}
}

// State is what became of a connection's path.
type State string

// The states. A path that is cut can become whole again; a dead one cannot.
const (
	// Whole paths carry what is sent.
	Whole State = "whole"
	// Cut paths hold it back.
	Cut State = "cut"
	// Dead paths were cut for so long that their connections are broken.
	Dead State = "dead"
)

// Exchange keeps who listens where on a simulated desk, as seen by one Mac. Its
// errors are the system's own (syscall.ECONNREFUSED) where a kernel would give
// one. The functions changed are called in order, must return at once and must
// not call the exchange.
type Exchange interface {
	// Open notes that connections to an address (invalid: all) of an interface
	// (empty: of any) are taken at an address of loopback. Port 0 is any that is
	// free.
	Open(ctx context.Context, iface string, at, taken netip.AddrPort) (OpenPort, error)
	// Connect finds who answers an address from an interface (empty: from any) and
	// from a source (invalid: any). Where nobody can be reached it waits until
	// somebody can, or for the context.
	Connect(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort, changed func(State)) (Flow, error)
	// Answer gives the other end of the connection to which a token belongs; it
	// can be asked for once.
	Answer(ctx context.Context, token string, changed func(State)) (Flow, error)
}

// OpenPort is a port that is open.
type OpenPort struct {
	// Port is its number.
	Port int
	// Close ends it. Closing twice is harmless.
	Close func()
}

// Flow is one end of a connection.
type Flow struct {
	// At is where the other end takes connections on loopback, and Token what it
	// wants to be told first; for an end that dialled.
	At    netip.AddrPort
	Token string
	// Local and Remote are the simulated addresses; link-local ones carry the zone
	// of this end's interface.
	Local, Remote netip.AddrPort
	// Close says that this end is no longer used. Closing twice is harmless.
	Close func()
}

// TokenBytes is the length of a token. It is text.
const TokenBytes = 32
