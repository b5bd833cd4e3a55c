package sidechannel

import (
	"cmp"
	"context"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

// Loopback is the loopback of the machine below.
type Loopback struct{ native.Processes }

var _ Machine = Loopback{}

// noKeepAlive asks for no probes of connections, which Go sets up for each: the end
// of what is on this machine is told by its kernel.
const noKeepAlive = -1

// Listen listens at a port and shares it with nobody: the options by which JACCL
// lets several programs have one port are off.
func (Loopback) Listen(port int) (net.Listener, error) {
	alone := net.ListenConfig{KeepAlive: noKeepAlive, Control: func(_, _ string, raw syscall.RawConn) error {
		var problem error
		err := raw.Control(func(fd uintptr) { problem = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEADDR, 0) })
		return cmp.Or(err, problem)
	}}
	return alone.Listen(context.Background(), "tcp4", coordinatorAt(port).String())
}

// Dial connects to a port.
func (Loopback) Dial(ctx context.Context, port int) (net.Conn, error) {
	d := net.Dialer{KeepAlive: noKeepAlive}
	return d.DialContext(ctx, "tcp4", coordinatorAt(port).String())
}

// reset closes a connection as a program that was killed would.
func reset(conn net.Conn) {
	if tcp, ok := conn.(interface{ SetLinger(int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	conn.Close()
}
