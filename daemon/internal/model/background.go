package model

import (
	"cmp"
	"errors"
	"net"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// background has a connection's packets sent after those of all others of this Mac: a copy
// fills a cable for minutes, and ranks wait for each message. The daemons' calls and beats
// have connections of their own.
func background(conn net.Conn) error {
	const lowest = 1 // NET_SERVICE_TYPE_BK, TC_PRIO_FILLER
	option := 0x1116 // SO_NET_SERVICE_TYPE
	if runtime.GOOS == "linux" {
		option = 12 // SO_PRIORITY
	}
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	err = raw.Control(func(fd uintptr) { refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, lowest) })
	return cmp.Or(err, refused)
}
