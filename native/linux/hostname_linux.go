package linux

import (
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// hostName hears of changes of the host name. The kernel wakes whoever polls
// the file for a priority event since Linux 3.3; the flag for an error is set
// with it and means nothing.
type hostName struct{ descriptor }

func openHostName(file string) ([]listener, error) {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, refused(native.AreaIdentity, "hostname", err)
	}
	return []listener{hostName{descriptor(fd)}}, nil
}

func (hostName) interest() int16 { return unix.POLLPRI }

func (hostName) ready(revents int16, say announce) error {
	if revents&unix.POLLNVAL != 0 {
		return unix.EBADF
	}
	say(native.AreaIdentity, "hostname.changed", "")
	return nil
}
