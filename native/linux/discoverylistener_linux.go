package linux

import (
	"errors"
	"maps"
	"net"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// The bounds of what is kept for one search on one interface. Whoever sends
// names without end fills it, and then adds nothing until some expire: what was
// heard before is not driven out.
const (
	mostInstances = 256
	mostAddresses = 16
	// mostQuestions is how many questions go into one message.
	mostQuestions = 24
	// mostTries is how often something that is missing or about to expire is
	// asked for.
	mostTries = 4
)

// mdnsListener is what one search hears on one interface. It reads no clock.
type mdnsListener struct {
	iface, serviceType string
	ask                time.Duration // when to ask for all instances
	interval           time.Duration // until the time after that
	instances          map[string]*receivedInstance
	hosts              map[string]map[netip.Addr]*lease // of the instances
	received           bool                             // something, since it was last looked through
	next               time.Duration                    // when it is to be looked through anyway
}

// lease is how long a record counts.
type lease struct {
	from, until time.Duration
	tries       int // of those that asked for it to be renewed
}

// receivedInstance is what is known of one instance; a part with a lease that has
// ended is not known.
type receivedInstance struct {
	name          string // full
	pointer       lease
	service, text lease
	host          string // full
	port          int
	pairs         map[string]string
	later         float64 // share of a lease by which this side asks later than others
	missing       lease   // from is when the next question for a missing part is due
	reported      *native.Sighting
}

func (l lease) alive(now time.Duration) bool { return now < l.until }

// renewal is when to ask for the record again: at 80, 85, 90 and 95 % of its
// lifetime (RFC 6762, 5.2), a little later by a share of each side's own, so that
// one asks and all hear the answer.
func (l lease) renewal(later float64) (time.Duration, bool) {
	if l.until <= l.from || l.tries >= mostTries {
		return 0, false
	}
	share := 0.80 + 0.05*float64(l.tries) + 0.02*later
	return l.from + time.Duration(share*float64(l.until-l.from)), true
}

func newLease(now time.Duration, ttl uint32) lease {
	return lease{from: now, until: now + min(time.Duration(ttl)*time.Second, mostLifetime)}
}

// newListener begins to ask at once, a little scattered.
func newListener(iface, serviceType string, first time.Duration) *mdnsListener {
	return &mdnsListener{
		iface: iface, serviceType: mdnsType(serviceType), ask: first, interval: time.Second,
		instances: map[string]*receivedInstance{}, hosts: map[string]map[netip.Addr]*lease{},
	}
}

// receive takes the records of a message. isOwn names instances that are announced
// here.
func (e *mdnsListener) receive(now time.Duration, records []dns.RR, isOwn func(name string) bool, later func() float64) {
	for _, record := range records {
		if r, ok := record.(*dns.PTR); ok && strings.EqualFold(r.Hdr.Name, e.serviceType) && !isOwn(r.Ptr) {
			e.receivePointer(now, r, later)
		}
	}
	for _, record := range records {
		i := e.instances[strings.ToLower(record.Header().Name)]
		if i == nil {
			continue
		}
		e.received = true
		switch r := record.(type) {
		case *dns.SRV:
			i.service, i.host, i.port = newLease(now, r.Hdr.Ttl), strings.ToLower(r.Target), int(r.Port)
		case *dns.TXT:
			if pairs, ok := parseTXT(r.Txt); ok {
				i.text, i.pairs = newLease(now, r.Hdr.Ttl), pairs
			}
		}
	}
	wanted := map[string]bool{}
	for _, i := range e.instances {
		wanted[i.host] = true
	}
	for _, record := range records {
		host := strings.ToLower(record.Header().Name)
		if !wanted[host] {
			continue
		}
		e.received = true
		switch r := record.(type) {
		case *dns.A:
			e.receiveAddress(now, host, r.A, r.Hdr)
		case *dns.AAAA:
			e.receiveAddress(now, host, r.AAAA, r.Hdr)
		}
	}
	maps.DeleteFunc(e.hosts, func(host string, _ map[netip.Addr]*lease) bool { return !wanted[host] })
}

func (e *mdnsListener) receivePointer(now time.Duration, r *dns.PTR, later func() float64) {
	name := strings.ToLower(r.Ptr)
	i := e.instances[name]
	e.received = true
	if i == nil {
		if r.Hdr.Ttl == 0 || len(e.instances) >= mostInstances || !strings.HasSuffix(name, "."+strings.ToLower(e.serviceType)) {
			return
		}
		i = &receivedInstance{name: r.Ptr, later: later()}
		e.instances[name] = i
	}
	i.pointer = newLease(now, r.Hdr.Ttl)
}

// receiveAddress notes an address of a host. A record of which there is one owner
// ends all others of its family that are more than a second old.
func (e *mdnsListener) receiveAddress(now time.Duration, host string, raw []byte, header dns.RR_Header) {
	address, ok := mdnsAddress(raw, e.iface)
	if !ok {
		return
	}
	known := e.hosts[host]
	if known == nil {
		known = map[netip.Addr]*lease{}
		e.hosts[host] = known
	}
	if header.Class&mdnsCacheFlush != 0 {
		maps.DeleteFunc(known, func(a netip.Addr, l *lease) bool {
			return a.Is4() == address.Is4() && now-l.from > time.Second
		})
	}
	if _, old := known[address]; old || len(known) < mostAddresses {
		l := newLease(now, header.Ttl)
		known[address] = &l
	}
}

// forget drops what has ended and reports what is new, different or gone.
func (e *mdnsListener) forget(now time.Duration, report func(native.Sighting)) {
	for _, addresses := range e.hosts {
		maps.DeleteFunc(addresses, func(_ netip.Addr, l *lease) bool { return !l.alive(now) })
	}
	for _, name := range slices.Sorted(maps.Keys(e.instances)) {
		i := e.instances[name]
		for _, l := range []*lease{&i.service, &i.text} {
			if !l.alive(now) {
				*l = lease{}
			}
		}
		if seen, whole := e.sighting(now, i); whole {
			i.missing = lease{}
			if i.reported == nil || !reflect.DeepEqual(*i.reported, seen) {
				i.reported = &seen
				report(seen)
			}
			continue
		}
		if i.reported != nil {
			report(e.gone(i))
			i.reported = nil
			if i.pointer.until > i.pointer.from { // it has said no good-bye
				e.ask, e.interval = min(e.ask, now), time.Second
			}
		}
		if !i.pointer.alive(now) {
			delete(e.instances, name)
		}
	}
}

// end reports all that was seen as gone.
func (e *mdnsListener) end(report func(native.Sighting)) {
	for _, name := range slices.Sorted(maps.Keys(e.instances)) {
		if i := e.instances[name]; i.reported != nil {
			report(e.gone(i))
		}
	}
	clear(e.instances)
}

func (e *mdnsListener) gone(i *receivedInstance) native.Sighting {
	return native.Sighting{Instance: mdnsLabel(i.name), Interface: e.iface, Gone: true}
}

func (e *mdnsListener) sighting(now time.Duration, i *receivedInstance) (native.Sighting, bool) {
	addresses := slices.SortedFunc(maps.Keys(e.hosts[i.host]), netip.Addr.Compare)
	whole := i.pointer.alive(now) && i.service.alive(now) && i.text.alive(now) && len(addresses) > 0 && i.port > 0
	return native.Sighting{
		Instance: mdnsLabel(i.name), Interface: e.iface, Host: strings.TrimSuffix(unescapeDNS(i.host), "."),
		Port: i.port, TXT: i.pairs, Addresses: addresses,
	}, whole
}

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
	group netip.AddrPort
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
	return &mdnsSocket{UDPConn: udp, group: netip.AddrPortFrom(group, mdnsPort)}, nil
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

// read gives each message from port 5353 to take, until the socket is closed. Others
// than that port are not multicast DNS (RFC 6762, 6).
func (s *mdnsSocket) read(take func([]byte)) {
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
		if from.Port() == mdnsPort {
			take(buffer[:n])
		}
	}
}

// send gives up after a moment: what is lost is said again.
func (s *mdnsSocket) send(message []byte) {
	_ = s.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = s.WriteToUDPAddrPort(message, s.group)
	_ = s.SetWriteDeadline(time.Time{}) // else it wakes the process later, for nothing
}
