package bound_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"fulmen/native/bound"
)

// twoHosts makes two network namespaces joined by two cables whose ends are all
// in 169.254/16, as Thunderbolt's are. The functions run what they are given in
// one of them.
func twoHosts(t *testing.T) (inA, inB func(func())) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	runtime.LockOSThread() // not given back: the thread ends with the test
	is := is.New(t)
	space := func() int {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Skipf("no namespaces here: %v", err)
		}
		fd, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		is.NoErr(err)
		t.Cleanup(func() { unix.Close(fd) })
		// A running host has its loopback up; the standard library looks there
		// for what the system can do with IPv6.
		lo, err := netlink.LinkByName("lo")
		is.NoErr(err)
		is.NoErr(netlink.LinkSetUp(lo))
		return fd
	}
	a, b := space(), space() // in b now
	enter := func(fd int) func(func()) {
		return func(f func()) {
			t.Helper()
			if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
				t.Fatal(err)
			}
			f()
		}
	}
	inA, inB = enter(a), enter(b)
	address := func(iface, cidr string) {
		link, err := netlink.LinkByName(iface)
		is.NoErr(err)
		parsed, err := netlink.ParseAddr(cidr)
		is.NoErr(err)
		parsed.Flags = unix.IFA_F_NODAD // usable at once
		is.NoErr(netlink.AddrAdd(link, parsed))
		is.NoErr(netlink.LinkSetUp(link))
	}
	inA(func() {
		for _, n := range []string{"0", "1"} {
			pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "a" + n}, PeerName: "b" + n, PeerNamespace: netlink.NsFd(b)}
			is.NoErr(netlink.LinkAdd(pair))
		}
		address("a0", "169.254.8.1/16")
		address("a1", "169.254.9.1/16")
		address("a1", "fe80::9:1/64")
	})
	inB(func() {
		address("b0", "169.254.8.2/16")
		address("b1", "169.254.9.2/16")
		address("b1", "fe80::9:2/64")
	})
	return inA, inB
}

// Both interfaces of a host are in one network: only binding to the interface
// tells them apart, at both ends.
func TestPathKeepsToItsInterface(t *testing.T) {
	is := is.New(t)
	inA, inB := twoHosts(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	listeners := map[net.Listener]string{}
	port := uint16(0)
	inB(func() {
		for _, at := range [][2]string{{"b0", "169.254.8.2"}, {"b1", "169.254.9.2"}, {"b1", "fe80::9:2"}} {
			l, err := bound.Sockets{}.Listen(ctx, at[0], netip.AddrPortFrom(netip.MustParseAddr(at[1]), port))
			is.NoErr(err)
			t.Cleanup(func() { l.Close() })
			port = l.Addr().(*net.TCPAddr).AddrPort().Port() // the others share it
			listeners[l] = at[0]
		}
	})
	arrived := make(chan string, 8)
	for l, iface := range listeners {
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				arrived <- iface + " from " + c.RemoteAddr().(*net.TCPAddr).IP.String()
				c.Close()
			}
		}()
	}
	dial := func(iface, source, to string) error {
		var err error
		inA(func() {
			var from netip.Addr
			if source != "" {
				from = netip.MustParseAddr(source)
			}
			var c net.Conn
			if c, err = (bound.Sockets{}).Dial(ctx, iface, from, netip.AddrPortFrom(netip.MustParseAddr(to), port)); err == nil {
				c.Close()
			}
		})
		return err
	}
	is.NoErr(dial("a0", "", "169.254.8.2"))
	is.Equal(<-arrived, "b0 from 169.254.8.1")
	is.NoErr(dial("a1", "", "169.254.9.2"))
	is.Equal(<-arrived, "b1 from 169.254.9.1") // the first route leads over a0
	is.NoErr(dial("a1", "169.254.9.1", "169.254.9.2"))
	is.Equal(<-arrived, "b1 from 169.254.9.1")

	// IPv6 link-local, with its zone; the accepting side sees one too.
	is.NoErr(dial("a1", "", "fe80::9:2%a1"))
	is.True(strings.HasPrefix(<-arrived, "b1 from fe80::")) // or from the address that the system has made by now
	is.True(dial("nowhere0", "", "169.254.9.2") != nil)     // no such interface

	// An address of another interface is not answered.
	is.True(errors.Is(dial("a0", "", "169.254.9.2"), unix.ECONNREFUSED))
}

func TestBoundToLoopback(t *testing.T) {
	is := is.New(t)
	l, err := bound.Sockets{}.Listen(t.Context(), "lo", netip.AddrPort{})
	if errors.Is(err, unix.EPERM) {
		t.Skip("this kernel binds sockets to devices for root only")
	}
	is.NoErr(err)
	defer l.Close()
	to := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(l.Addr().(*net.TCPAddr).Port))
	c, err := bound.Sockets{}.Dial(t.Context(), "lo", netip.Addr{}, to)
	is.NoErr(err)
	defer c.Close()
	accepted, err := l.Accept()
	is.NoErr(err)
	defer accepted.Close()
	raw, err := c.(*net.TCPConn).SyscallConn()
	is.NoErr(err)
	is.NoErr(raw.Control(func(fd uintptr) {
		limit, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
		is.NoErr(err)
		is.Equal(limit, 5000) // milliseconds until a dead path is noticed
	}))
}
