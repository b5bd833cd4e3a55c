package bound

import (
	"net"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// control binds to an interface by its index, in the option of the socket's
// family; without an interface the system's routes decide.
func control(iface string) (binder, error) {
	if iface == "" {
		return nil, nil
	}
	found, err := net.InterfaceByName(iface)
	if err != nil {
		return nil, err
	}
	return func(network, address string, c syscall.RawConn) error {
		return each(func(fd int) error {
			if strings.HasSuffix(network, "6") {
				return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_BOUND_IF, found.Index)
			}
			return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BOUND_IF, found.Index)
		})(network, address, c)
	}, nil
}

// tcpRxtConnDropTime is TCP_RXT_CONNDROPTIME of netinet/tcp.h, in seconds.
const tcpRxtConnDropTime = 0x80

func limitUnacknowledged(fd uintptr) {
	_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, tcpRxtConnDropTime, int(userLimit.Seconds()))
}
