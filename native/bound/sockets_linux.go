package bound

import (
	"golang.org/x/sys/unix"
)

// control binds to a device by its name; without one the system's routes decide.
func control(iface string) (binder, error) {
	if iface == "" {
		return nil, nil
	}
	return each(func(fd int) error {
		return unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_BINDTODEVICE, iface)
	}), nil
}

func limitUnacknowledged(fd uintptr) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userLimit.Milliseconds()))
}
