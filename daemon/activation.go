package daemon

import (
	"cmp"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/daemon/internal/server"
)

// adminGroup says who is an administrator without a proof; nil where a group alone
// proves nothing, as on macOS.
func adminGroup() func(uid uint32) (bool, error) {
	if runtime.GOOS != "linux" {
		return nil
	}
	return server.InGroup(api.AdminGroup)
}

// handed are the API's sockets that launchd or systemd hold; nil where there is none.
type handed struct {
	unix net.Listener
	tcp  net.Listener
}

// takeHanded makes listeners of what was handed over. More than one of a kind, or one
// that is no address of the API's, is a mistake in the unit or the property list.
func (d *daemon) takeHanded() (handed, error) {
	var h handed
	all, err := d.options.Sockets.Listen()
	for _, l := range all {
		switch addr := l.Addr().(type) {
		case *net.UnixAddr:
			if h.unix == nil {
				h.unix = l
				continue
			}
		case *net.TCPAddr:
			if h.tcp == nil && addr.IP.IsLoopback() {
				h.tcp = l
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

// listen gives what the API is served on, the TCP address that clients are told
// first. What was handed over serves; what was not is opened. A port that is taken is
// a condition, not the end: the next free one serves, and the Unix socket does. Where
// the configuration names another port than launchd or systemd hold, both serve: a
// socket that nobody accepts from would keep its callers waiting.
func (d *daemon) listen() (all []net.Listener, address Address, err error) {
	h, err := d.takeHanded()
	if err != nil {
		return nil, address, err
	}
	defer func() {
		if err != nil {
			for _, l := range all {
				err = errors.Join(err, l.Close())
			}
		}
	}()
	for _, l := range []net.Listener{h.tcp, h.unix} {
		if l != nil {
			all = append(all, l)
		}
	}
	if h.unix == nil {
		if h.unix, err = server.ListenUnix(d.folders.Socket()); err != nil {
			return all, address, err
		}
		all = append(all, h.unix)
	} else if err := d.linkSocket(h.unix.Addr().String()); err != nil {
		return all, address, err
	}
	tcp, port := h.tcp, d.live.Current().API.Port
	if tcp == nil || d.namesPort() && port != 0 && port != portOf(tcp) {
		if tcp, err = server.ListenTCP(port); err != nil {
			return all, address, err
		}
		all = append([]net.Listener{tcp}, all...)
		if got := portOf(tcp); port != 0 && got != port {
			d.raise(api.ReasonAPIPortTaken, tcp.Addr().String()+" serves instead")
		}
	}
	return all, Address{URL: "ws://" + tcp.Addr().String() + api.PathAPI, Socket: d.folders.Socket()}, nil
}

// namesPort reports whether the configuration names the API's port itself.
func (d *daemon) namesPort() bool {
	return slices.ContainsFunc(d.live.Listing().Keys, func(k api.ConfigKey) bool { return k.Key == "api.port" && k.Set })
}

func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// linkSocket has the path at which clients look lead to the socket that was handed
// over, where that is another one: launchd makes none in a folder that is gone after
// a restart.
func (d *daemon) linkSocket(target string) error {
	path := d.folders.Socket()
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
		return api.Errorf(api.ReasonAlreadyRunning, path, "%s is in the way: it is no socket, and is left alone.", path)
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
