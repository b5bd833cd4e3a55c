package probe

import (
	"net"
	"syscall"
)

// resent is how many segments the system has sent again on a connection;
// unknownCount where it does not tell.
func resent(conn net.Conn) uint64 {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return unknownCount
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return unknownCount
	}
	count := unknownCount
	err = raw.Control(func(fd uintptr) {
		if n, ok := resentBy(int(fd)); ok {
			count = n
		}
	})
	if err != nil {
		return unknownCount
	}
	return count
}
