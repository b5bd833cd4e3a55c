package probe

import "golang.org/x/sys/unix"

// resentBy is how many segments the system has sent again on a socket.
func resentBy(fd int) (uint64, bool) {
	info, err := unix.GetsockoptTCPConnectionInfo(fd, unix.IPPROTO_TCP, unix.TCP_CONNECTION_INFO)
	if err != nil {
		return 0, false
	}
	return info.Txretransmitpackets, true
}
