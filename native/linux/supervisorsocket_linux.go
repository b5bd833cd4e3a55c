package linux

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// maxWaiting is how many connections may wait for a unit that is just starting.
const maxWaiting = 16

// openSocket opens a unit's socket for the daemon's own account and root alone. Who
// connects from then on waits for the unit, and hears of its end at once should it
// never come to accepting: nobody has to look whether it listens by now.
func openSocket(path string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), path)
	address := &unix.SockaddrUnix{Name: path}
	err = unix.Bind(fd, address)
	if errors.Is(err, unix.EADDRINUSE) { // of a unit that was killed, and forgotten
		if err = os.Remove(path); err == nil {
			err = unix.Bind(fd, address)
		}
	}
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("bind", err), file.Close())
	}
	// Until it listens nobody can connect, whatever the umask has let its mode be.
	if err = errors.Join(os.Chmod(path, 0o600), os.NewSyscallError("listen", unix.Listen(fd, maxWaiting))); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(path))
	}
	return file, nil
}
