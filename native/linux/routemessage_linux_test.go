package linux

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"syscall"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// attribute is one in its form on the wire.
func attribute(kind uint16, value ...byte) []byte {
	out := binary.NativeEndian.AppendUint16(nil, uint16(unix.SizeofRtAttr+len(value)))
	out = append(binary.NativeEndian.AppendUint16(out, kind), value...)
	return append(out, make([]byte, (4-len(out)%4)%4)...)
}

func number(n uint32) []byte { return binary.NativeEndian.AppendUint32(nil, n) }

func TestParseLink(t *testing.T) {
	is := is.New(t)
	head := slices.Concat([]byte{0, 0, 1, 0}, number(7), number(iffUp), number(0))
	data := slices.Concat(head,
		attribute(unix.IFLA_IFNAME, []byte("tb0\x00")...), attribute(unix.IFLA_MTU, number(9000)...), attribute(unix.IFLA_MASTER, number(3)...),
		attribute(unix.IFLA_ADDRESS, 2, 0, 0, 0, 0, 9), attribute(unix.IFLA_LINKINFO|unix.NLA_F_NESTED, attribute(unix.IFLA_INFO_KIND, []byte("veth\x00")...)...))
	l, ok := parseLink(data)
	is.True(ok)
	is.Equal(l, link{Index: 7, Name: "tb0", Kind: "veth", Hardware: int(binary.NativeEndian.Uint16([]byte{1, 0})), Flags: iffUp, MTU: 9000, Master: 3, Address: "02:00:00:00:00:09"})
	_, ok = parseLink(head)
	is.True(!ok) // no name
	_, ok = parseLink(head[:8])
	is.True(!ok) // torn
}

func TestParseAddress(t *testing.T) {
	is := is.New(t)
	head := slices.Concat([]byte{unix.AF_INET, 32, 0x80, 0}, number(4))
	a, ok := parseAddress(slices.Concat(head, attribute(unix.IFA_ADDRESS, 10, 0, 0, 2), attribute(unix.IFA_LOCAL, 10, 0, 0, 1),
		attribute(unix.IFA_FLAGS, number(0x280)...), attribute(ifaProtocol, 3), attribute(unix.IFA_CACHEINFO, slices.Concat(number(5), number(60), number(0), number(0))...)))
	is.True(ok)
	is.Equal(a, address{Index: 4, Address: netip.MustParsePrefix("10.0.0.1/32"), Flags: 0x280, Protocol: 3, Lifetime: 60})
	a, ok = parseAddress(slices.Concat(head, attribute(unix.IFA_ADDRESS, 10, 0, 0, 1), attribute(unix.IFA_CACHEINFO, slices.Concat(number(1<<32-1), number(1<<32-1))...)))
	is.True(ok)
	is.Equal(a.Lifetime, uint32(0)) // for ever
	is.Equal(a.Flags, uint32(0x80)) // the short form
	_, ok = parseAddress(slices.Concat(head, attribute(unix.IFA_LOCAL, 10, 0, 0)))
	is.True(!ok) // no address
	_, ok = parseAddress(slices.Concat([]byte{unix.AF_INET, 33, 0, 0}, number(4), attribute(unix.IFA_LOCAL, 10, 0, 0, 1)))
	is.True(!ok) // no prefix
}

func TestParseRoute(t *testing.T) {
	head := func(length, table, kind byte) []byte {
		return []byte{unix.AF_INET6, length, 0, 0, table, 0, 0, kind, 0, 0, 0, 0}
	}
	oif := attribute(unix.RTA_OIF, number(5)...)
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{
		"default":       {slices.Concat(head(0, unix.RT_TABLE_MAIN, unix.RTN_UNICAST), oif), true},
		"two ways":      {slices.Concat(head(0, unix.RT_TABLE_MAIN, unix.RTN_UNICAST), attribute(unix.RTA_MULTIPATH, slices.Concat([]byte{8, 0, 0, 0}, number(5))...)), true},
		"not default":   {slices.Concat(head(8, unix.RT_TABLE_MAIN, unix.RTN_UNICAST), oif), false},
		"other table":   {slices.Concat(head(0, unix.RT_TABLE_LOCAL, unix.RTN_UNICAST), oif), false},
		"a wide table":  {slices.Concat(head(0, unix.RT_TABLE_MAIN, unix.RTN_UNICAST), oif, attribute(unix.RTA_TABLE, number(1000)...)), false},
		"unreachable":   {slices.Concat(head(0, unix.RT_TABLE_MAIN, unix.RTN_UNREACHABLE), oif), false},
		"no interface":  {head(0, unix.RT_TABLE_MAIN, unix.RTN_UNICAST), false},
		"torn":          {head(0, unix.RT_TABLE_MAIN, unix.RTN_UNICAST)[:9], false},
		"torn two ways": {slices.Concat(head(0, unix.RT_TABLE_MAIN, unix.RTN_UNICAST), attribute(unix.RTA_MULTIPATH, 8, 0, 0)), false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r, ok := parseRoute(c.data)
			is.Equal(ok, c.want)
			if ok {
				is.Equal(r, route{IPv6: true, Index: 5})
			}
		})
	}
}

func TestWhatIsNoEvent(t *testing.T) {
	is := is.New(t)
	event := func(kind uint16, data []byte) bool {
		_, ok := parseRouteEvent(syscall.NetlinkMessage{Header: syscall.NlMsghdr{Type: kind}, Data: data})
		return ok
	}
	link := make([]byte, unix.SizeofIfInfomsg)
	is.True(event(unix.RTM_DELLINK, link))
	is.True(!event(unix.RTM_NEWLINK, slices.Concat(link, attribute(unix.IFLA_WIRELESS, 1)))) // a scan has ended
	is.True(!event(unix.RTM_NEWROUTE, []byte{unix.AF_INET, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}))
	is.True(!event(unix.RTM_NEWROUTE, nil))
	is.True(!event(unix.RTM_NEWNEIGH, link))
}

func FuzzRouteMessage(f *testing.F) {
	f.Add(uint16(unix.RTM_NEWLINK), slices.Concat(make([]byte, 4), number(7), make([]byte, 8), attribute(unix.IFLA_IFNAME, []byte("a\x00")...)))
	f.Add(uint16(unix.RTM_NEWADDR), slices.Concat([]byte{2, 24, 0, 0}, number(7), attribute(unix.IFA_LOCAL, 10, 0, 0, 1)))
	f.Add(uint16(unix.RTM_NEWROUTE), slices.Concat(make([]byte, 12), attribute(unix.RTA_OIF, number(5)...)))
	f.Fuzz(func(t *testing.T, kind uint16, data []byte) {
		m := syscall.NetlinkMessage{Header: syscall.NlMsghdr{Type: kind}, Data: data}
		parseRouteEvent(m)
		if l, ok := parseLink(data); ok && (l.Index <= 0 || l.Name == "" || l.MTU < 0) {
			t.Errorf("%+v", l)
		}
		if a, ok := parseAddress(data); ok && !a.Address.IsValid() {
			t.Errorf("%+v", a)
		}
		parseRoute(data)
	})
}

func FuzzInotify(f *testing.F) {
	f.Add(append(make([]byte, 12), 4, 0, 0, 0, 'a', 0, 0, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		if names := parseInotify(data); len(names)*unix.SizeofInotifyEvent > len(data) {
			t.Errorf("%d names in %d bytes", len(names), len(data))
		}
	})
}
