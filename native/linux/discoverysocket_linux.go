package linux

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The groups of multicast DNS.
var (
	mdnsGroup4 = netip.AddrFrom4([4]byte{224, 0, 0, 251})
	mdnsGroup6 = netip.AddrFrom16([16]byte{0: 0xff, 1: 0x02, 15: 0xfb})
)

// ipv6MulticastAll is IPV6_MULTICAST_ALL of linux/in6.h, since Linux 4.20.
const ipv6MulticastAll = 29

// mdnsSocket speaks multicast DNS on one interface in one address family. It is
// bound to the group's address, so that it takes nothing that is for others on
// this machine, and port 5353 can be shared with them.
type mdnsSocket struct {
	*net.UDPConn
	group   netip.AddrPort
	closing chan struct{} // its reader is to end
	done    chan struct{} // and has
	once    sync.Once
}

// openMDNS joins the group on an interface; index 0 joins none, and only tries
// whether a socket can be had.
func openMDNS(group netip.Addr, index int) (*mdnsSocket, error) {
	family, level := unix.AF_INET6, unix.IPPROTO_IPV6
	if group.Is4() {
		family, level = unix.AF_INET, unix.IPPROTO_IP
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "mdns")
	defer file.Close()
	set := func(level, option, value int) {
		if err == nil {
			err = os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, level, option, value))
		}
	}
	set(unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	var at unix.Sockaddr
	if group.Is4() {
		set(level, unix.IP_MULTICAST_ALL, 0)
		set(level, unix.IP_MULTICAST_TTL, 255)
		set(level, unix.IP_MULTICAST_LOOP, 1)
		at = &unix.SockaddrInet4{Port: mdnsPort, Addr: group.As4()}
	} else {
		set(level, unix.IPV6_V6ONLY, 1)
		set(level, ipv6MulticastAll, 0)
		set(level, unix.IPV6_MULTICAST_HOPS, 255)
		set(level, unix.IPV6_MULTICAST_LOOP, 1)
		at = &unix.SockaddrInet6{Port: mdnsPort, Addr: group.As16(), ZoneId: uint32(max(index, 1))}
	}
	if err == nil && index > 0 {
		err = join(fd, level, group, index)
	}
	if err == nil {
		err = os.NewSyscallError("bind", unix.Bind(fd, at))
	}
	if err != nil {
		return nil, err
	}
	conn, err := net.FilePacketConn(file)
	if err != nil {
		return nil, err
	}
	udp, ok := conn.(*net.UDPConn)
	if !ok {
		return nil, errors.Join(errors.ErrUnsupported, conn.Close())
	}
	return &mdnsSocket{
		UDPConn: udp, group: netip.AddrPortFrom(group, mdnsPort),
		closing: make(chan struct{}), done: make(chan struct{}),
	}, nil
}

// join takes part in the group on one interface, and sends to it by that one.
func join(fd, level int, group netip.Addr, index int) error {
	if !group.Is4() {
		return os.NewSyscallError("setsockopt", errors.Join(
			unix.SetsockoptIPv6Mreq(fd, level, unix.IPV6_JOIN_GROUP, &unix.IPv6Mreq{Multiaddr: group.As16(), Interface: uint32(index)}),
			unix.SetsockoptInt(fd, level, unix.IPV6_MULTICAST_IF, index)))
	}
	return os.NewSyscallError("setsockopt", errors.Join(
		unix.SetsockoptIPMreqn(fd, level, unix.IP_ADD_MEMBERSHIP, &unix.IPMreqn{Multiaddr: group.As4(), Ifindex: int32(index)}),
		unix.SetsockoptIPMreqn(fd, level, unix.IP_MULTICAST_IF, &unix.IPMreqn{Ifindex: int32(index)})))
}

// read gives each message from port 5353 to take, until the socket is closed or
// take is false. Others than that port are not multicast DNS (RFC 6762, 6).
func (s *mdnsSocket) read(take func([]byte) bool) {
	defer close(s.done)
	buffer := make([]byte, mdnsBytes)
	for {
		n, from, err := s.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// The interface went down or had an error to tell; a descriptor that is
			// broken for good must not make this a loop.
			if !errors.Is(err, unix.ENETDOWN) && !errors.Is(err, unix.EINTR) {
				return
			}
			continue
		}
		if from.Port() == mdnsPort && !take(append([]byte(nil), buffer[:n]...)) {
			return
		}
	}
}

// send gives up after a moment: what is lost is said again.
func (s *mdnsSocket) send(message []byte) {
	_ = s.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = s.WriteToUDPAddrPort(message, s.group)
	_ = s.SetWriteDeadline(time.Time{}) // else it wakes the process later, for nothing
}

// end closes the socket and waits for its reader.
func (s *mdnsSocket) end() {
	s.once.Do(func() {
		close(s.closing)
		_ = s.Close()
	})
	<-s.done
}
