package loopback

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"fulmen/native"
)

const (
	// backlog is how many connections may wait to be accepted.
	backlog = 128
	// notifyWithin is how long who connects may take to say what for.
	notifyWithin = 5 * time.Second
)

// listener takes connections to a simulated port.
type listener struct {
	sockets  *Sockets
	real     net.Listener
	openPort OpenPort
	address  net.Addr
	ctx      context.Context
	stop     context.CancelCauseFunc
	coming   chan *conn
	// reporting limits how many who have not said what for are heard at once.
	reporting chan struct{}
	once      sync.Once
	taking    sync.WaitGroup
}

// Listen implements [native.Sockets].
func (s *Sockets) Listen(ctx context.Context, iface string, at netip.AddrPort) (net.Listener, error) {
	fail := func(err error) (net.Listener, error) {
		return nil, failed("listen", at, err)
	}
	real, err := (&net.ListenConfig{KeepAlive: -1}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	openPort, err := s.exchange.Open(ctx, iface, at, real.Addr().(*net.TCPAddr).AddrPort())
	if err != nil {
		_ = real.Close()
		return fail(err)
	}
	l := &listener{
		sockets: s, real: real, openPort: openPort, coming: make(chan *conn, backlog), reporting: make(chan struct{}, backlog),
		address: Listening(iface, at.Addr(), openPort.Port),
	}
	l.ctx, l.stop = context.WithCancelCause(context.Background())
	if err := s.add(l); err != nil {
		_ = l.Close()
		return fail(err)
	}
	l.taking.Go(l.take)
	return l, nil
}

// take hears who connects until the listener is closed.
func (l *listener) take() {
	for {
		tcp, err := l.real.Accept()
		if err != nil {
			return
		}
		select {
		case l.reporting <- struct{}{}:
			l.taking.Go(func() {
				defer func() { <-l.reporting }()
				l.receive(tcp)
			})
		default:
			_ = tcp.Close()
		}
	}
}

// receive asks the exchange about who connected. Whoever has no token is a stranger
// on this machine, and hung up on.
func (l *listener) receive(tcp net.Conn) {
	ctx, cancel := context.WithTimeout(l.ctx, notifyWithin)
	defer cancel()
	// Closing the listener ends the reading.
	release := context.AfterFunc(ctx, func() { _ = tcp.SetReadDeadline(longPast()) })
	token := make([]byte, TokenBytes)
	_, err := io.ReadFull(tcp, token)
	c := newConn()
	var flow Flow
	if err == nil && release() {
		flow, err = l.sockets.exchange.Answer(ctx, string(token), c.set)
	}
	if err != nil || flow.Close == nil {
		_ = tcp.Close()
		return
	}
	if err := l.sockets.keep(c, tcp, flow); err != nil {
		flow.Close()
		_ = tcp.Close()
		return
	}
	select {
	case l.coming <- c:
	default:
		_ = c.Close()
	}
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.coming:
		return c, nil
	case <-l.ctx.Done():
		return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.address, Err: context.Cause(l.ctx)}
	}
}

// Close ends it; connections that nobody accepted are closed.
func (l *listener) Close() error {
	l.breakWith(net.ErrClosed)
	l.once.Do(func() {
		l.sockets.remove(l)
		l.openPort.Close()
		l.taking.Wait()
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

// breakWith ends it with an error that Accept gives.
func (l *listener) breakWith(err error) {
	l.stop(err)
	_ = l.real.Close()
}

// Listening is the address of a listener at a simulated address (invalid: all) of
// an interface.
func Listening(iface string, address netip.Addr, port int) net.Addr {
	if !address.IsValid() {
		address = netip.IPv6Unspecified()
	}
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(native.Zoned(address, iface), uint16(port)))
}

// Addr is the simulated address and port.
func (l *listener) Addr() net.Addr { return l.address }
