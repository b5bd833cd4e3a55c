package linux

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/matryer/is"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// unshare moves the rest of the test into namespaces of its own. The thread is
// not given back: the runtime ends it with the test's goroutine.
func unshare(t *testing.T, flags int) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	runtime.LockOSThread()
	if err := unix.Unshare(flags); err != nil {
		runtime.UnlockOSThread()
		t.Skipf("no namespaces here: %v", err)
	}
}

func veth(name, peer string) *netlink.Veth {
	return &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: peer}
}

func named(t *testing.T, name string) netlink.Link {
	t.Helper()
	l, err := netlink.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// at gives the interface of that name, or one that is nothing.
func at(s native.Snapshot, name string) native.Interface {
	i, ok := s.Network.Interface(name)
	if !ok {
		return native.Interface{Up: new(false), Link: new(false)}
	}
	return i
}

func hasAddress(s native.Snapshot, name, prefix string) bool {
	return slices.ContainsFunc(at(s, name).Addresses, func(a native.InterfaceAddress) bool {
		return a.Address == netip.MustParsePrefix(prefix)
	})
}

// TestNetworkEvents changes a network of its own, and after each change waits
// for the kernel's hint and reads what it announced.
func TestNetworkEvents(t *testing.T) {
	is := is.New(t)
	unshare(t, unix.CLONE_NEWNET)
	p, err := New(Options{})
	is.NoErr(err)
	defer p.Close()
	e := listen(t, p)
	step := func(what string, change func() error, source, subject string, holds func(native.Snapshot) bool) {
		t.Helper()
		e.after(what, change, native.AreaNetwork, source, subject, holds)
	}

	step("a pair appears", func() error { return netlink.LinkAdd(veth("fa0", "fb0")) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return at(s, "fa0").Type == native.InterfaceEthernet && !*at(s, "fa0").Up && s.Network.PrimaryInterface == ""
	})
	a, b := named(t, "fa0"), named(t, "fb0")
	step("one end up", func() error { return netlink.LinkSetUp(a) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return *at(s, "fa0").Up && !*at(s, "fa0").Link
	})
	step("both ends up", func() error { return netlink.LinkSetUp(b) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return *at(s, "fa0").Link && at(s, "fa0").HardwareAddress == a.Attrs().HardwareAddr.String()
	})
	step("the far end goes down", func() error { return netlink.LinkSetDown(b) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return *at(s, "fa0").Up && !*at(s, "fa0").Link
	})
	step("and up", func() error { return netlink.LinkSetUp(b) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return *at(s, "fa0").Link
	})
	step("this end goes down", func() error { return netlink.LinkSetDown(a) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return !*at(s, "fa0").Up && !*at(s, "fa0").Link
	})
	step("and up", func() error { return netlink.LinkSetUp(a) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return *at(s, "fa0").Up && *at(s, "fa0").Link
	})
	step("the MTU changes", func() error { return netlink.LinkSetMTU(a, 9000) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return *at(s, "fa0").MTUBytes == 9000
	})
	address, err := netlink.ParseAddr("169.254.1.1/30")
	is.NoErr(err)
	step("an address comes", func() error { return netlink.AddrAdd(a, address) }, "rtnetlink.address", "fa0", func(s native.Snapshot) bool {
		return hasAddress(s, "fa0", "169.254.1.1/30")
	})
	step("and another instead of it", func() error {
		other, err := netlink.ParseAddr("169.254.1.5/30")
		return errors.Join(err, netlink.AddrAdd(a, other), netlink.AddrDel(a, address))
	}, "rtnetlink.address", "fa0", func(s native.Snapshot) bool {
		return hasAddress(s, "fa0", "169.254.1.5/30") && !hasAddress(s, "fa0", "169.254.1.1/30")
	})
	step("and the first again", func() error { return netlink.AddrAdd(a, address) }, "rtnetlink.address", "fa0", func(s native.Snapshot) bool {
		return hasAddress(s, "fa0", "169.254.1.1/30")
	})
	gateway := net.ParseIP("169.254.1.2")
	route := &netlink.Route{LinkIndex: a.Attrs().Index, Gw: gateway}
	step("a default route comes", func() error { return netlink.RouteAdd(route) }, "rtnetlink.route", "default", func(s native.Snapshot) bool {
		return s.Network.PrimaryInterface == "fa0"
	})
	step("it goes", func() error { return netlink.RouteDel(route) }, "rtnetlink.route", "default", func(s native.Snapshot) bool {
		return s.Network.PrimaryInterface == ""
	})
	step("the address goes", func() error { return netlink.AddrDel(a, address) }, "rtnetlink.address", "fa0", func(s native.Snapshot) bool {
		return !hasAddress(s, "fa0", "169.254.1.1/30")
	})

	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "fbr0"}}
	members := func(s native.Snapshot) []string {
		if b, ok := s.Network.BridgeOf("fa0"); ok {
			return b.KernelMembers
		}
		return nil
	}
	step("a bridge appears", func() error { return netlink.LinkAdd(bridge) }, "rtnetlink.link", "fbr0", func(s native.Snapshot) bool {
		return at(s, "fbr0").Type == native.InterfaceBridge && len(s.Network.Bridges) == 1
	})
	step("it is joined", func() error { return netlink.LinkSetMaster(a, bridge) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return slices.Equal(members(s), []string{"fa0"})
	})
	step("and left", func() error { return netlink.LinkSetNoMaster(a) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return members(s) == nil
	})
	step("it is joined again", func() error { return netlink.LinkSetMaster(a, bridge) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		return slices.Equal(members(s), []string{"fa0"})
	})
	step("the pair is removed", func() error { return netlink.LinkDel(b) }, "rtnetlink.link", "fa0", func(s native.Snapshot) bool {
		_, ok := s.Network.Interface("fa0")
		return !ok && members(s) == nil && len(s.Network.Bridges) == 1
	})
}

func noRDMADevices() bool { return false }

// TestOverflow fills the queue while nobody takes from it: what comes then is
// one hint for everything, and events go on after it.
func TestOverflow(t *testing.T) {
	is := is.New(t)
	unshare(t, unix.CLONE_NEWNET)
	opened, err := openRouteEvents(1, noRDMADevices) // the kernel makes the least of it that it allows
	is.NoErr(err)
	is.Equal(len(opened), 1)
	defer closeAll(opened)
	is.NoErr(netlink.LinkAdd(veth("fa0", "fb0")))
	a := named(t, "fa0")
	for mtu := range 200 {
		is.NoErr(netlink.LinkSetMTU(a, 1000+mtu))
	}
	received := func() []string {
		var out []string
		is.NoErr(opened[0].ready(unix.POLLERR, func(_ native.Area, source, subject string) { out = append(out, source+" "+subject) }))
		return out
	}
	is.Equal(received(), []string{"rtnetlink.overflow "})
	is.Equal(received(), nil) // nothing is left over
	is.NoErr(netlink.LinkSetUp(a))
	is.True(slices.Contains(received(), "rtnetlink.link fa0"))
}

// TestForeignSenders holds that only the kernel is believed: a process with the
// privilege may send to the socket too.
func TestForeignSenders(t *testing.T) {
	is := is.New(t)
	opened, err := openRouteEvents(0, noRDMADevices)
	is.NoErr(err)
	defer closeAll(opened)
	name, err := unix.Getsockname(opened[0].fd())
	is.NoErr(err)
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	is.NoErr(err)
	defer unix.Close(fd)
	message := make([]byte, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg)
	message[0], message[4] = byte(len(message)), unix.RTM_NEWLINK
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Pid: name.(*unix.SockaddrNetlink).Pid}); err != nil {
		t.Skipf("the kernel does not let one process speak to another here: %v", err)
	}
	is.NoErr(opened[0].ready(unix.POLLIN, func(_ native.Area, source, subject string) {
		if source == "rtnetlink.link" && subject == "" { // this machine's own links may change meanwhile, and have names
			t.Errorf("believed %s", source)
		}
	}))
}
