package linux

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// discoveryHost is set in the process of a host: a whole process, because the
// platform's goroutines open sockets on whatever thread they run.
const discoveryHost = "FULMEN_TEST_DISCOVERY_HOST"

// host is a process in a network namespace of its own.
type host struct {
	t     *testing.T
	in    io.Writer
	lines chan string
	at    *netlink.Handle
	seen  map[string]native.Sighting // by instance and interface, what is there
}

// newHost starts one from the thread's namespace.
func newHost(t *testing.T) *host {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestDiscoveryHost$", "-test.v=false")
	command.Env = append(os.Environ(), discoveryHost+"=1")
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
	h := &host{t: t, in: in, lines: make(chan string, 100), seen: map[string]native.Sighting{}}
	go func() {
		defer close(h.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			h.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		for range h.lines {
		}
		if err := command.Wait(); err != nil {
			t.Errorf("a host ended with %v", err)
		}
	})
	space, err := netns.GetFromPid(command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer space.Close()
	if h.at, err = netlink.NewHandleAt(space); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.at.Close)
	h.up("lo")
	return h
}

func (h *host) pid() int {
	h.report("pid")
	n, err := strconv.Atoi(h.until(func(line string) bool { _, err := strconv.Atoi(line); return err == nil }))
	if err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *host) link(name string) netlink.Link {
	h.t.Helper()
	l, err := h.at.LinkByName(name)
	if err != nil {
		h.t.Fatal(err)
	}
	return l
}

// up gives the interface addresses and switches it on.
func (h *host) up(name string, addresses ...string) {
	h.t.Helper()
	l := h.link(name)
	for _, a := range addresses {
		address, err := netlink.ParseAddr(a)
		if err != nil {
			h.t.Fatal(err)
		}
		if err := h.at.AddrAdd(l, address); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := h.at.LinkSetUp(l); err != nil {
		h.t.Fatal(err)
	}
}

// plug makes an interface of the host, the other end being where this thread is
// and, if it is named, a member of a bridge.
func (h *host) plug(name, far, bridge string) {
	h.t.Helper()
	if err := netlink.LinkAdd(veth(far, name)); err != nil {
		h.t.Fatal(err)
	}
	end := named(h.t, name)
	if err := netlink.LinkSetNsPid(end, h.pid()); err != nil {
		h.t.Fatal(err)
	}
	l := named(h.t, far)
	if bridge != "" {
		if err := netlink.LinkSetMaster(l, named(h.t, bridge)); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := netlink.LinkSetUp(l); err != nil {
		h.t.Fatal(err)
	}
}

// joinHosts joins two hosts directly.
func joinHosts(t *testing.T, a *host, ia string, b *host, ib string) {
	t.Helper()
	if err := netlink.LinkAdd(veth(ia, ib)); err != nil {
		t.Fatal(err)
	}
	for h, name := range map[*host]string{a: ia, b: ib} {
		if err := netlink.LinkSetNsPid(named(t, name), h.pid()); err != nil {
			t.Fatal(err)
		}
	}
}

func newBridge(t *testing.T, name string) {
	t.Helper()
	off := false
	// Without snooping, as switches at home are: no querier answers here.
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: name}, MulticastSnooping: &off}
	if err := netlink.LinkAdd(bridge); err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		t.Fatal(err)
	}
}

func (h *host) report(line string) { fmt.Fprintln(h.in, line) }

// until takes lines up to one that will do.
func (h *host) until(will func(string) bool) string {
	h.t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		select {
		case line, ok := <-h.lines:
			if !ok {
				h.t.Fatal("the host has ended")
			}
			var s native.Sighting
			if strings.HasPrefix(line, "{") {
				if err := json.Unmarshal([]byte(line), &s); err != nil {
					h.t.Fatal(err)
				}
				if key := s.Instance + "@" + s.Interface; s.Gone {
					delete(h.seen, key)
				} else {
					h.seen[key] = s
				}
			}
			if will(line) {
				return line
			}
		case <-deadline:
			h.t.Fatalf("waited in vain; it sees %v", h.seen)
		}
	}
}

// sees waits until it sees the instance on the interface, at the addresses.
func (h *host) sees(instance, iface string, addresses ...string) {
	h.t.Helper()
	holds := func() bool {
		s, ok := h.seen[instance+"@"+iface]
		for _, a := range addresses {
			ok = ok && slices.Contains(s.Addresses, netip.MustParseAddr(a))
		}
		return ok
	}
	if !holds() {
		h.until(func(string) bool { return holds() })
	}
}

// misses waits until it sees it no more.
func (h *host) misses(instance, iface string) {
	h.t.Helper()
	holds := func() bool { _, ok := h.seen[instance+"@"+iface]; return !ok }
	if !holds() {
		h.until(func(string) bool { return holds() })
	}
}

// local is the address that the kernel gave the interface, as seen from another.
func (h *host) local(name, zone string) string {
	h.t.Helper()
	for range 300 {
		addresses, err := h.at.AddrList(h.link(name), netlink.FAMILY_V6)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, a := range addresses {
			if a.IP.IsLinkLocalUnicast() {
				return a.IP.String() + "%" + zone
			}
		}
		h.pid() // a moment passes
	}
	h.t.Skip("no IPv6 here")
	return ""
}

func hosts(t *testing.T, count int) []*host {
	t.Helper()
	unshare(t, unix.CLONE_NEWNET)
	var all []*host
	for range count {
		all = append(all, newHost(t))
	}
	return all
}

// TestDiscoveryOnABridge has three hosts that find each other, an interface that
// comes later, one that goes, and a host that takes its leave.
func TestDiscoveryOnABridge(t *testing.T) {
	all := hosts(t, 3)
	newBridge(t, "br0")
	newBridge(t, "br1")
	for n, h := range all {
		h.plug("eth0", fmt.Sprint("p", n), "br0")
		h.up("eth0", fmt.Sprintf("10.0.0.%d/24", n+1))
		h.report("browse")
		h.report(fmt.Sprintf("announce host%d eth0,eth1", n))
	}
	for n, h := range all {
		for m, other := range all {
			if n != m {
				h.sees(fmt.Sprint("host", m), "eth0", fmt.Sprintf("10.0.0.%d", m+1), other.local("eth0", "eth0"))
			}
		}
		if _, own := h.seen[fmt.Sprint("host", n, "@eth0")]; own {
			t.Fatal("it sees itself")
		}
	}

	// A second network, long after everything was started.
	for n, h := range all[:2] {
		h.plug("eth1", fmt.Sprint("q", n), "br1")
		h.up("eth1", fmt.Sprintf("10.0.1.%d/24", n+1))
	}
	all[0].sees("host1", "eth1", "10.0.1.2")
	all[1].sees("host0", "eth1", "10.0.1.1")

	// Down is gone on that interface alone; up again is back.
	if err := all[0].at.LinkSetDown(all[0].link("eth1")); err != nil {
		t.Fatal(err)
	}
	all[0].misses("host1", "eth1")
	all[0].sees("host1", "eth0")
	all[0].up("eth1")
	all[0].sees("host1", "eth1")

	// Another address is told.
	all[2].up("eth0", "10.0.0.77/24")
	all[0].sees("host2", "eth0", "10.0.0.3", "10.0.0.77")

	all[2].report("withdraw")
	all[0].misses("host2", "eth0")
	all[1].misses("host2", "eth0")
	all[1].sees("host0", "eth0")
}

// TestDiscoveryByCables has two hosts with two cables and nothing but link-local
// addresses, all of one network: each cable is seen by itself.
func TestDiscoveryByCables(t *testing.T) {
	all := hosts(t, 2)
	a, b := all[0], all[1]
	for n := range 2 {
		name := fmt.Sprint("tb", n)
		far := fmt.Sprint("tp", n)
		joinHosts(t, a, name, b, far)
		a.up(name, fmt.Sprintf("169.254.1%d.1/16", n))
		b.up(far, fmt.Sprintf("169.254.1%d.2/16", n))
	}
	a.report("browse")
	b.report("announce both tp0,tp1")
	a.sees("both", "tb0", "169.254.10.2", b.local("tp0", "tb0"))
	a.sees("both", "tb1", "169.254.11.2", b.local("tp1", "tb1"))
	if s := a.seen["both@tb0"]; slices.Contains(s.Addresses, netip.MustParseAddr("169.254.11.2")) {
		t.Fatalf("the address of one cable on the other: %v", s)
	}

	// Exactly the named interfaces: when what was announced later on one cable is
	// seen there, what is on the other only has not been.
	b.report("withdraw")
	a.misses("both", "tb0")
	a.misses("both", "tb1")
	b.report("announce one tp0")
	a.sees("one", "tb0")
	b.report("announce two tp1")
	a.sees("two", "tb1")
	if len(a.seen) != 2 {
		t.Fatalf("sees %v", a.seen)
	}
}

// TestDiscoveryHost is the process of a host.
func TestDiscoveryHost(t *testing.T) {
	if os.Getenv(discoveryHost) == "" {
		t.Skip("runs in a process of its own, started by other tests")
	}
	is := is.New(t)
	before := runtime.NumGoroutine()
	p, err := New(Options{})
	is.NoErr(err)
	var withdraw, stop []func() error
	// The standard output belongs to the conversation.
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		words := strings.Fields(lines.Text())
		switch words[0] {
		case "pid":
			fmt.Println(os.Getpid())
		case "announce":
			w, err := p.Discovery.Announce(t.Context(), native.Announcement{
				Type: testType, Instance: words[1], Port: 7732, TXT: map[string]string{"p": "1"}, Interfaces: strings.Split(words[2], ","),
			})
			is.NoErr(err)
			withdraw = append(withdraw, w)
		case "withdraw":
			for _, w := range withdraw {
				is.NoErr(w())
			}
		case "browse":
			s, err := p.Discovery.Browse(t.Context(), testType, nil, func(s native.Sighting) {
				text, _ := json.Marshal(s)
				fmt.Println(string(text))
			})
			is.NoErr(err)
			stop = append(stop, s)
		}
	}
	for _, end := range slices.Concat(stop, withdraw) {
		is.NoErr(end())
	}
	is.NoErr(p.Close())
	rests(t, before)
}

// rests waits until no more goroutines run than before.
func rests(t *testing.T, before int) {
	t.Helper()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
		_ = exec.Command("true").Run() // lets others run a while
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
}

// TestDiscoveryEnds starts and stops many times: nothing is left, and what is
// closed refuses.
func TestDiscoveryEnds(t *testing.T) {
	is := is.New(t)
	before := runtime.NumGoroutine()
	for range 20 {
		p, err := New(Options{})
		is.NoErr(err)
		stop, err := p.Discovery.Browse(t.Context(), testType, nil, func(native.Sighting) {})
		is.NoErr(err)
		withdraw, err := p.Discovery.Announce(t.Context(), native.Announcement{Type: testType, Instance: "x", Port: 1, Interfaces: []string{"lo"}})
		is.NoErr(err)
		is.NoErr(withdraw())
		is.NoErr(withdraw())
		is.NoErr(p.Close())
		is.NoErr(stop())
		_, err = p.Discovery.Browse(t.Context(), testType, nil, nil)
		is.True(err != nil)
	}
	rests(t, before)
}
