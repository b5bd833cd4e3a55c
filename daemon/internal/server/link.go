package server

import (
	"errors"
	"net"
	"sync"
)

// link is one accepted connection, with what its listener knows about it.
type link struct {
	net.Conn
	gate   *gate
	guard  guard
	unix   bool
	uid    uint32 // over a Unix socket
	uidErr error
	once   sync.Once
	ended  sync.Once
}

// linkKey finds the link in the context of a request.
type linkKey struct{}

func newLink(conn net.Conn, g *gate) *link {
	l := &link{Conn: conn, gate: g, guard: g.guard, unix: g.unix}
	if l.unix {
		l.uid, l.uidErr = peerUID(conn)
	}
	return l
}

// known says that the connection no longer counts as half open.
func (l *link) known() { l.once.Do(func() { l.gate.release(l) }) }

// Close ends the connection.
func (l *link) Close() error {
	l.known()
	if told := l.gate.accepted; told != nil {
		l.ended.Do(func() { told(-1) })
	}
	return l.Conn.Close()
}

// errNoCredentials is a connection over which the kernel vouches for nobody.
var errNoCredentials = errors.New("not a Unix socket")

// peerUID asks the kernel as which user the process at the other end of a Unix socket
// connected. The answer is that of the moment of connecting: a process cannot change it,
// nor pass it on except with the open connection. The group is not asked for: who may do
// what is decided by user alone.
func peerUID(conn net.Conn) (uint32, error) {
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, errNoCredentials
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var uid uint32
	var inner error
	if err := raw.Control(func(fd uintptr) { uid, inner = peercred(int(fd)) }); err != nil {
		return 0, err
	}
	return uid, inner
}
