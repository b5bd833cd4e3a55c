package peercred

import (
	"errors"
	"net"
)

// ErrNoCredentials is a connection over which the kernel vouches for nobody.
var ErrNoCredentials = errors.New("not a Unix socket")

// UID is the user id of the process that connected. The group is not asked
// for: who may do what is decided by user alone.
func UID(conn net.Conn) (uint32, error) {
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, ErrNoCredentials
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var uid uint32
	var inner error
	if err := raw.Control(func(fd uintptr) { uid, inner = peerUID(int(fd)) }); err != nil {
		return 0, err
	}
	return uid, inner
}
