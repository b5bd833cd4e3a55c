package server

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"fulmen/daemon/api"
)

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
func ListenTCP(port int) (net.Listener, error) {
	if port < 0 || port > 65535 {
		return nil, api.Errorf(api.ReasonBadValue, "port", "The API's port must be from 0 to 65535, not %d.", port)
	}
	var last error
	for p := port; p <= min(port+portTries, 65535); p++ {
		if p == api.PeerPort && p != port {
			continue
		}
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
		if err == nil {
			return l, nil
		}
		if last = err; !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return nil, fmt.Errorf("listen on 127.0.0.1 from port %d: %w", port, last)
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
		return api.Errorf(api.ReasonAlreadyRunning, path, "%s is in the way: it is no socket, and is left alone.", path)
	}
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		return errors.Join(api.NewError(api.ReasonAlreadyRunning, path), conn.Close())
	}
	return os.Remove(path)
}
