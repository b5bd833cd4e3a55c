//go:build cgo && (darwin || (linux && darwinsim))

package darwin

import "golang.org/x/sys/unix"

// readable asks whether something is there to be read. The runtime's poller tells
// of what comes, and not of what has stayed.
func readable(descriptor int) bool {
	fds := []unix.PollFd{{Fd: int32(descriptor), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return n > 0 || err == unix.EINTR
}
