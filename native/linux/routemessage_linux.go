package linux

import (
	"bytes"
	"encoding/binary"
	"math"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

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

// add puts a message of a dump into the tables.
func (t *tables) add(m syscall.NetlinkMessage) {
	switch m.Header.Type {
	case unix.RTM_NEWLINK:
		if l, ok := parseLink(m.Data); ok {
			t.Links = append(t.Links, l)
		}
	case unix.RTM_NEWADDR:
		if a, ok := parseAddress(m.Data); ok {
			t.Addresses = append(t.Addresses, a)
		}
	case unix.RTM_NEWROUTE:
		if r, ok := parseRoute(m.Data); ok {
			t.Defaults = append(t.Defaults, r)
		}
	}
}
