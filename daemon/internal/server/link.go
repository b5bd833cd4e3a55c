package server

import (
	"net"
	"sync"

	"fulmen/daemon/internal/server/peercred"
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
		l.uid, l.uidErr = peercred.UID(conn)
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
