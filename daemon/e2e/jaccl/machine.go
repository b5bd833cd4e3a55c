package jaccl

import (
	"context"
	"net"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// machine is this machine's sockets.
type machine struct{}

// Roomy is this machine's sockets with room for all that connect to rank 0 at once,
// as macOS gives it. Linux, asked for the same, lets some of them wait for a second.
type Roomy struct{ machine }

// Listen listens at a port that nobody else has.
func (Roomy) Listen(address string) (net.Listener, error) { return net.Listen("tcp4", address) }

// Listen listens with room for one connection that waits; Go would make room for
// many, and not let another program have the port too.
func (machine) Listen(address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), address)
	defer file.Close()
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1); err != nil {
			return nil, os.NewSyscallError("setsockopt", err)
		}
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}); err != nil {
		return nil, os.NewSyscallError("bind", err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		return nil, os.NewSyscallError("listen", err)
	}
	return net.FileListener(file)
}

// Dial connects.
func (machine) Dial(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp4", address)
}
