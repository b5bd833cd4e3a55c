package bound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"fulmen/native"
)

// The kernel's limits on a dead path: idle for keepIdle it asks every
// keepEvery, keepCount times; sent data may wait unacknowledged for as long as
// both together.
const (
	keepIdle  = 15 * time.Second
	keepEvery = 2 * time.Second
	keepCount = 3
	userLimit = 5 * time.Second
)

// Sockets is the sockets of this machine. The zero value is ready.
type Sockets struct{}

var _ native.Sockets = Sockets{}

// Listen implements [native.Sockets].
func (Sockets) Listen(ctx context.Context, iface string, at netip.AddrPort) (net.Listener, error) {
	bind, err := control(iface)
	if err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: bind, KeepAliveConfig: keepAlive()}
	l, err := config.Listen(ctx, "tcp", local(iface, at))
	if err != nil {
		return nil, err
	}
	return listener{l}, nil
}

// local is an address to listen at, as package net reads it.
func local(iface string, at netip.AddrPort) string {
	if !at.Addr().IsValid() {
		return net.JoinHostPort("", strconv.Itoa(int(at.Port())))
	}
	return netip.AddrPortFrom(native.Zoned(at.Addr(), iface), at.Port()).String()
}

// Dial implements [native.Sockets].
func (Sockets) Dial(ctx context.Context, iface string, source netip.Addr, to netip.AddrPort) (net.Conn, error) {
	bind, err := control(iface)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Control: bind, KeepAliveConfig: keepAlive()}
	if source.IsValid() {
		dialer.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(source, 0))
	}
	conn, err := dialer.DialContext(ctx, "tcp", to.String())
	if err != nil {
		if own, ownErr := net.InterfaceAddrs(); runtime.GOOS == "darwin" && ownErr == nil && isDenied(err, to.Addr(), own) {
			err = fmt.Errorf("%w: %w", native.ErrLocalNetwork, err)
		}
		return nil, err
	}
	return limited(conn), nil
}

// isDenied reports whether macOS keeps this program from the local network: it then says
// of an address on a link that there is no route to it. A host on a link that does not
// answer is another error there, EHOSTDOWN.
func isDenied(err error, to netip.Addr, own []net.Addr) bool {
	onLink := to.IsLinkLocalUnicast() || slices.ContainsFunc(own, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.Contains(to.AsSlice())
	})
	return onLink && errors.Is(err, syscall.EHOSTUNREACH)
}

func keepAlive() net.KeepAliveConfig {
	return net.KeepAliveConfig{Enable: true, Idle: keepIdle, Interval: keepEvery, Count: keepCount}
}

// listener limits unacknowledged data on what it accepts.
type listener struct{ net.Listener }

func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return limited(conn), nil
}

// limited bounds how long sent data may stay unacknowledged; a system that
// cannot notices by its own, longer, retransmission limit.
func limited(conn net.Conn) net.Conn {
	if tcp, ok := conn.(*net.TCPConn); ok {
		if raw, err := tcp.SyscallConn(); err == nil {
			_ = raw.Control(limitUnacknowledged)
		}
	}
	return conn
}

// binder sets options on a socket before it is bound.
type binder = func(network, address string, c syscall.RawConn) error

// each runs a setting on the descriptor.
func each(set func(fd int) error) binder {
	return func(_, _ string, c syscall.RawConn) error {
		var inner error
		if err := c.Control(func(fd uintptr) { inner = set(int(fd)) }); err != nil {
			return err
		}
		return inner
	}
}
