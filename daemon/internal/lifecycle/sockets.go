package lifecycle

import (
	"cmp"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/server"
	"fulmen/native/activation"
)

// Handed are the API's sockets that launchd or systemd hold; nil where there is none.
type Handed struct {
	Unix net.Listener
	TCP  net.Listener
}

// TakeHanded makes listeners of what was handed over. More than one of a kind, or one
// that is no address of the API's, is a mistake in the unit or the property list.
func TakeHanded(sockets activation.Sockets) (Handed, error) {
	var h Handed
	all, err := sockets.Listen()
	for _, l := range all {
		switch addr := l.Addr().(type) {
		case *net.UnixAddr:
			if h.Unix == nil {
				h.Unix = l
				continue
			}
		case *net.TCPAddr:
			if h.TCP == nil && addr.IP.IsLoopback() {
				h.TCP = l
				continue
			}
		}
		err = cmp.Or(err, error(api.Errorf(api.ReasonBadValue, "sockets",
			"The socket %s was handed over, and is not one that the API is served on: one Unix socket, and one port of the loopback address.", l.Addr())))
	}
	if err != nil {
		for _, l := range all {
			err = errors.Join(err, l.Close())
		}
	}
	return h, err
}

// ListenConfig is what [Listen] needs.
type ListenConfig struct {
	Sockets activation.Sockets
	// Path is where clients look for the Unix socket.
	Path string
	// Port is the API's; IsNamed says that the configuration names it itself.
	Port    int
	IsNamed bool
}

// Listen gives what the API is served on, the TCP address that clients are told
// first. What was handed over serves; what was not is opened. A port that is taken is
// no reason to end: the next free one serves, and the Unix socket does; instead is
// the address that serves then. Where
// the configuration names another port than launchd or systemd hold, both serve: a
// socket that nobody accepts from would keep its callers waiting.
func Listen(c ListenConfig) (all []net.Listener, tcp net.Listener, instead string, err error) {
	h, err := TakeHanded(c.Sockets)
	if err != nil {
		return nil, nil, "", err
	}
	defer func() {
		if err != nil {
			for _, l := range all {
				err = errors.Join(err, l.Close())
			}
		}
	}()
	for _, l := range []net.Listener{h.TCP, h.Unix} {
		if l != nil {
			all = append(all, l)
		}
	}
	if h.Unix == nil {
		if h.Unix, err = server.ListenUnix(c.Path); err != nil {
			return all, nil, "", err
		}
		all = append(all, h.Unix)
	} else if err := linkSocket(c.Path, h.Unix.Addr().String()); err != nil {
		return all, nil, "", err
	}
	port := c.Port
	tcp = h.TCP
	if tcp == nil || c.IsNamed && port != 0 && port != portOf(tcp) {
		if tcp, err = server.ListenTCP(port); err != nil {
			return all, nil, "", err
		}
		all = append([]net.Listener{tcp}, all...)
		if got := portOf(tcp); port != 0 && got != port {
			instead = tcp.Addr().String()
		}
	}
	return all, tcp, instead, nil
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// linkSocket has the path at which clients look lead to the socket that was handed
// over, where that is another one: launchd makes none in a folder that is gone after
// a restart.
func linkSocket(path, target string) error {
	if there, err := os.Stat(path); err == nil {
		if held, err := os.Stat(target); err == nil && os.SameFile(there, held) {
			return nil
		}
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return home.Explain(err, "examine", path)
	case info.Mode().Type() != fs.ModeSocket && info.Mode().Type() != fs.ModeSymlink:
		return api.Errorf(api.ReasonAlreadyRunning, path, "%s is in the way: it is not a socket, and is left alone.", path)
	default:
		// This daemon has the folder's lock, so nobody serves there.
		if err := os.Remove(path); err != nil {
			return home.Explain(err, "replace", path)
		}
	}
	if relative, err := filepath.Rel(filepath.Dir(path), target); err == nil && filepath.IsAbs(target) {
		target = relative
	}
	return home.Explain(os.Symlink(target, path), "make", path)
}
