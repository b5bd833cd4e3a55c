package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"fulmen/daemon/api"
)

// link is one accepted connection, with what its listener knows about it.
type link struct {
	net.Conn
	gate   *gate
	uid    uint32 // over a Unix socket
	uidErr error
	once   sync.Once
	ended  sync.Once
}

// linkKey finds the link in the context of a request.
type linkKey struct{}

func newLink(conn net.Conn, g *gate) *link {
	l := &link{Conn: conn, gate: g}
	if g.unix {
		l.uid, l.uidErr = peerUID(conn)
	}
	return l
}

// known says that the connection no longer counts as half open.
func (l *link) known() { l.once.Do(func() { l.gate.release(l) }) }

// Close ends the connection.
func (l *link) Close() error {
	l.known()
	if accepted := l.gate.accepted; accepted != nil {
		l.ended.Do(func() { accepted(-1) })
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

const (
	// portTries is how many ports after a taken one are tried.
	portTries = 100
	// socketMode lets every local user connect; who it is, the kernel says.
	socketMode = 0o666
	// maxSocketPath is what sun_path holds on macOS, without the byte that ends it.
	maxSocketPath = 103
)

// ListenTCP opens the loopback address on a port or, if that is taken, on the
// next one that is free; 0 = any. The port of the peers is passed over. Whether
// the port was taken shows in the listener's address.
func ListenTCP(port int) (net.Listener, error) { return ListenAt("127.0.0.1", port) }

// ListenAt is ListenTCP for an address, or for all of this machine's where host is empty.
func ListenAt(host string, port int) (net.Listener, error) {
	if port < 0 || port > 65535 {
		return nil, api.Errorf(api.ReasonBadValue, "port", "The port must be from 0 to 65535, not %d.", port)
	}
	var last error
	for p := port; p <= min(port+portTries, 65535); p++ {
		if p == api.PeerPort && p != port {
			continue
		}
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(p)))
		if err == nil {
			return l, nil
		}
		if last = err; !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return nil, fmt.Errorf("listen on %s from port %d: %w", host, port, last)
}

// ListenUnix opens a Unix socket that every local user may connect to. A socket
// that a dead daemon left behind is replaced; one that answers is another
// daemon's, and anything that is no socket is left alone. The folder must not
// be writable by others.
func ListenUnix(path string) (net.Listener, error) {
	if len(path) > maxSocketPath {
		return nil, api.Errorf(api.ReasonBadValue, path, "The socket's path %s has %d bytes; the system allows %d.", path, len(path), maxSocketPath)
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return api.Errorf(api.ReasonAlreadyRunning, path, "Fulmen cannot make its socket: something else is at %s, and is left alone.", path).WithRemedy("Move it away, then start Fulmen again.")
	}
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		return errors.Join(api.NewError(api.ReasonAlreadyRunning, path), conn.Close())
	}
	return os.Remove(path)
}
