package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"fulmen/native"
)

// routeEvents hears of changes of links, addresses and default routes.
type routeEvents struct {
	netlinkGroup
	// rdma reports whether there are RDMA devices. One on Ethernet has the state
	// of its interface, and GIDs made of its addresses.
	rdma func() bool
}

// openRouteEvents joins rtnetlink's groups. bufferBytes is as for [openNetlink].
func openRouteEvents(bufferBytes int, rdma func() bool) ([]listener, error) {
	const groups = unix.RTMGRP_LINK | unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR | unix.RTMGRP_IPV4_ROUTE | unix.RTMGRP_IPV6_ROUTE
	socket, err := openNetlink(unix.NETLINK_ROUTE, groups, bufferBytes)
	if err != nil {
		return nil, refused(native.AreaNetwork, "rtnetlink", err)
	}
	return []listener{routeEvents{socket, rdma}}, nil
}

// ready takes what is queued and names each thing once. When the queue ran over,
// whatever is left in it is as old as what was lost: one hint says that
// everything may have changed, and the queue, now empty, goes on as before.
func (r routeEvents) ready(_ int16, report announce) error {
	var events []routeEvent
	malformed := false
	lost, err := r.take(func(datagram []byte) {
		messages, err := syscall.ParseNetlinkMessage(datagram)
		malformed = malformed || err != nil
		for _, m := range messages {
			if event, ok := parseRouteEvent(m); ok && !slices.Contains(events, event) {
				events = append(events, event)
			}
		}
	})
	if lost || malformed {
		events = []routeEvent{{source: "rtnetlink.overflow"}}
	}
	for _, e := range events {
		report(native.AreaNetwork, e.source, e.subject)
	}
	if len(events) > 0 && r.rdma() {
		for _, e := range events {
			if e.source != "rtnetlink.route" {
				report(native.AreaRDMA, e.source, e.subject)
			}
		}
	}
	return err
}

// routeEvent is what one message announces.
type routeEvent struct{ source, subject string }

// parseRouteEvent is false for what changes no fact: routes that are not default
// routes, and the reports of wireless scans, which come as links.
func parseRouteEvent(m syscall.NetlinkMessage) (routeEvent, bool) {
	switch m.Header.Type {
	case unix.RTM_NEWLINK, unix.RTM_DELLINK:
		attributes := parseAttributes(after(m.Data, unix.SizeofIfInfomsg))
		if _, scan := attributes[unix.IFLA_WIRELESS]; scan {
			return routeEvent{}, false
		}
		return routeEvent{"rtnetlink.link", attributes.text(unix.IFLA_IFNAME)}, true
	case unix.RTM_NEWADDR, unix.RTM_DELADDR:
		// A label is the interface's name, or begins with it.
		name, _, _ := strings.Cut(parseAttributes(after(m.Data, unix.SizeofIfAddrmsg)).text(unix.IFA_LABEL), ":")
		return routeEvent{"rtnetlink.address", name}, true
	case unix.RTM_NEWROUTE, unix.RTM_DELROUTE:
		if len(m.Data) < unix.SizeofRtMsg || m.Data[rtDestinationLength] != 0 {
			return routeEvent{}, false
		}
		return routeEvent{"rtnetlink.route", "default"}, true
	}
	return routeEvent{}, false
}

// Where fields are in struct rtmsg.
const (
	rtDestinationLength = 1
	rtTable             = 4
	rtType              = 7
)

// ifaProtocol is IFA_PROTO of linux/if_addr.h, since Linux 5.18.
const ifaProtocol = 11

// attributeMask takes the flags off an attribute's type.
const attributeMask = 1<<14 - 1

// attributes are the last value of each type that a message carries.
type attributes map[uint16][]byte

// parseAttributes reads a list of attributes: length and type, 2 bytes each, and
// the value, padded to 4 bytes. It ends where the list makes no sense.
func parseAttributes(data []byte) attributes {
	out := attributes{}
	for len(data) >= unix.SizeofRtAttr {
		size := int(binary.NativeEndian.Uint16(data))
		if size < unix.SizeofRtAttr || size > len(data) {
			break
		}
		out[binary.NativeEndian.Uint16(data[2:])&attributeMask] = data[unix.SizeofRtAttr:size]
		data = after(data, (size+3)&^3)
	}
	return out
}

func after(data []byte, n int) []byte { return data[min(n, len(data)):] }

func (a attributes) text(kind uint16) string {
	text, _, _ := bytes.Cut(a[kind], []byte{0})
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

func (a attributes) number(kind uint16) (uint32, bool) {
	if len(a[kind]) < 4 {
		return 0, false
	}
	return binary.NativeEndian.Uint32(a[kind]), true
}

// parseLink reads struct ifinfomsg and its attributes.
func parseLink(data []byte) (link, bool) {
	if len(data) < unix.SizeofIfInfomsg {
		return link{}, false
	}
	a := parseAttributes(data[unix.SizeofIfInfomsg:])
	mtu, _ := a.number(unix.IFLA_MTU)
	master, _ := a.number(unix.IFLA_MASTER)
	l := link{
		Hardware: int(binary.NativeEndian.Uint16(data[2:])),
		Index:    int(int32(binary.NativeEndian.Uint32(data[4:]))),
		Flags:    binary.NativeEndian.Uint32(data[8:]),
		Name:     a.text(unix.IFLA_IFNAME),
		Alias:    a.text(unix.IFLA_IFALIAS),
		Kind:     parseAttributes(a[unix.IFLA_LINKINFO]).text(unix.IFLA_INFO_KIND),
		MTU:      int64(mtu),
		Master:   int(int32(master)),
	}
	// Tunnels have an IP address here, and the loopback interface zeros.
	if mac := a[unix.IFLA_ADDRESS]; len(mac) == 6 && !bytes.Equal(mac, make([]byte, 6)) {
		l.Address = net.HardwareAddr(mac).String()
	}
	return l, l.Index > 0 && l.Name != ""
}

// parseAddress reads struct ifaddrmsg and its attributes.
func parseAddress(data []byte) (address, bool) {
	if len(data) < unix.SizeofIfAddrmsg {
		return address{}, false
	}
	a := parseAttributes(data[unix.SizeofIfAddrmsg:])
	// At a point-to-point link IFA_ADDRESS is the other end's.
	own, has := a[unix.IFA_LOCAL]
	if !has {
		own = a[unix.IFA_ADDRESS]
	}
	ip, ok := netip.AddrFromSlice(own)
	prefix := netip.PrefixFrom(ip, int(data[1]))
	out := address{
		Address: prefix,
		Flags:   uint32(data[2]),
		Index:   int(int32(binary.NativeEndian.Uint32(data[4:]))),
		Label:   a.text(unix.IFA_LABEL),
	}
	if flags, has := a.number(unix.IFA_FLAGS); has {
		out.Flags = flags
	}
	if p := a[ifaProtocol]; len(p) > 0 {
		out.Protocol = p[0]
	}
	// struct ifa_cacheinfo: preferred, valid, created, updated.
	if times := a[unix.IFA_CACHEINFO]; len(times) >= 8 {
		if valid := binary.NativeEndian.Uint32(times[4:]); valid != math.MaxUint32 {
			out.Lifetime = max(1, valid)
		}
	}
	return out, ok && prefix.IsValid() && out.Index > 0
}

// parseRoute reads struct rtmsg and its attributes. It is false for all but a
// usable default route of the main table.
func parseRoute(data []byte) (route, bool) {
	if len(data) < unix.SizeofRtMsg {
		return route{}, false
	}
	a := parseAttributes(data[unix.SizeofRtMsg:])
	table := uint32(data[rtTable])
	if wide, has := a.number(unix.RTA_TABLE); has {
		table = wide
	}
	if table != unix.RT_TABLE_MAIN || data[rtType] != unix.RTN_UNICAST || data[rtDestinationLength] != 0 {
		return route{}, false
	}
	index, _ := a.number(unix.RTA_OIF)
	// struct rtnexthop: length 2, flags 1, hops 1, interface 4; the first counts.
	if hops := a[unix.RTA_MULTIPATH]; index == 0 && len(hops) >= unix.SizeofRtNexthop {
		index = binary.NativeEndian.Uint32(hops[4:])
	}
	metric, _ := a.number(unix.RTA_PRIORITY)
	return route{IPv6: data[0] == unix.AF_INET6, Index: int(int32(index)), Metric: metric}, int32(index) > 0
}

// netlinkGroup is a netlink socket that is a member of multicast groups: the
// kernel puts one datagram into it for each thing that it announces.
type netlinkGroup struct {
	descriptor
	// trusted reports whether a datagram's sender is the kernel.
	trusted func(unix.Sockaddr) bool
	// buffer holds one datagram; one goroutine takes them.
	buffer []byte
}

// netlinkBuffer is above the 32 KiB that the kernel puts into one datagram.
const netlinkBuffer = 64 << 10

// openNetlink joins groups, a mask, in the network namespace of the calling
// thread. bufferBytes is the size of the queue; 0 is the system's own.
func openNetlink(protocol int, groups uint32, bufferBytes int) (netlinkGroup, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return netlinkGroup{}, err
	}
	err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups})
	if bufferBytes > 0 {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, bufferBytes))
	}
	if err != nil {
		return netlinkGroup{}, errors.Join(err, unix.Close(fd))
	}
	return netlinkGroup{descriptor: descriptor(fd), trusted: fromKernel, buffer: make([]byte, netlinkBuffer)}, nil
}

// fromKernel reports whether the sender is number 0. Any process with the
// privilege may send to the groups, and udevd does.
func fromKernel(from unix.Sockaddr) bool {
	sender, ok := from.(*unix.SockaddrNetlink)
	return ok && sender.Pid == 0
}

func (netlinkGroup) interest() int16 { return unix.POLLIN }

// mostDatagrams is how many are taken before the hints go out, so that a flood
// delays nobody; poll(2) says at once that there is more.
const mostDatagrams = 256

// take gives each of the kernel's datagrams in the queue, which is valid during
// the call only. It reports whether any was lost: the queue ran over, or one was
// larger than the kernel makes them.
func (n netlinkGroup) take(each func([]byte)) (lost bool, err error) {
	buffer := n.buffer
	for range mostDatagrams {
		size, from, err := unix.Recvfrom(int(n.descriptor), buffer, unix.MSG_TRUNC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ENOBUFS):
			lost = true
			continue
		case errors.Is(err, unix.EAGAIN):
			return lost, nil
		case err != nil:
			return lost, err
		case !n.trusted(from):
			continue
		case size > len(buffer):
			lost = true
			continue
		}
		each(buffer[:size])
	}
	return lost, nil
}
