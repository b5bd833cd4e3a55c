package sim_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/memnet"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/scenario"
)

// wires is a world whose Macs talk, with a hand on its time.
type wires struct {
	*sim.World
	t       *testing.T
	sockets map[string]native.Sockets
	pass    func(time.Duration)
}

// onWires runs a test on a clock that is moved by hand.
func onWires(t *testing.T, s scenario.Scenario, test func(t *testing.T, w *wires)) {
	t.Helper()
	clock := nativetest.NewClock(time.Now())
	w := newWires(t, s, clock)
	w.pass = clock.Advance
	test(t, w)
	is.New(t).NoErr(w.Close())
	is.New(t).Equal(clock.Pending(), 0)
}

func newWires(t *testing.T, s scenario.Scenario, clock native.Clock) *wires {
	t.Helper()
	world, err := sim.New(s, clock)
	if err != nil {
		t.Fatal(err)
	}
	w := &wires{World: world, t: t, sockets: map[string]native.Sockets{}}
	for _, mac := range world.Macs() {
		p, err := world.Platform(mac)
		if err != nil {
			t.Fatal(err)
		}
		w.sockets[mac] = p.Sockets
	}
	return w
}

func (w *wires) do(lines ...string) {
	w.t.Helper()
	for _, line := range lines {
		if err := w.Apply(parse(line)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// join is both ends of a connection from a to an address of b.
func (w *wires) join(from, to, address string) (a, b net.Conn) {
	w.t.Helper()
	is := is.New(w.t)
	l, err := w.sockets["b"].Listen(w.t.Context(), to, netip.AddrPortFrom(netip.MustParseAddr(address).WithZone(""), 0))
	is.NoErr(err)
	a, err = w.sockets["a"].Dial(w.t.Context(), from, netip.Addr{}, w.at(address, l))
	is.NoErr(err)
	b, err = l.Accept()
	is.NoErr(err)
	is.NoErr(l.Close())
	return a, b
}

func (w *wires) at(address string, l net.Listener) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(address), uint16(l.Addr().(*net.TCPAddr).Port))
}

func TestConnectionsHaveSimulatedAddresses(t *testing.T) {
	onWires(t, cluster(2, "a.tb1 b.tb2"), func(t *testing.T, w *wires) {
		is := is.New(t)
		a, b := w.join("en1", "en2", "fe80::2:2%en1")
		port := a.LocalAddr().(*net.TCPAddr).Port
		is.Equal(a.LocalAddr().(*net.TCPAddr).AddrPort().Addr().String(), "fe80::1:1%en1")
		is.Equal(b.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().String(), "fe80::1:1%en2") // the zone of its own interface
		is.Equal(b.RemoteAddr().(*net.TCPAddr).Port, port)
		is.Equal(b.LocalAddr().(*net.TCPAddr).AddrPort().Addr().String(), "fe80::2:2%en2")
		is.Equal(a.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().String(), "fe80::2:2%en1")

		sent := make([]byte, 1<<20) // more than any buffer
		rand.Read(sent)
		go func() {
			_, _ = a.Write(sent)
			_ = a.(interface{ CloseWrite() error }).CloseWrite()
		}()
		got, err := io.ReadAll(b)
		is.NoErr(err)
		is.True(bytes.Equal(got, sent))
		_, err = b.Write([]byte("back"))
		is.NoErr(err)
		is.NoErr(b.Close())
		got, err = io.ReadAll(a)
		is.NoErr(err)
		is.Equal(string(got), "back")
	})
}

// Whatever takes a path away holds its connections up, and those alone.
func TestConnectionsFollowTheirPath(t *testing.T) {
	for name, c := range map[string]struct{ from, to, address, away, back string }{
		"cable":     {"en1", "en2", "fe80::2:2%en1", "unplug a.tb1", "plug a.tb1 b.tb2"},
		"link":      {"en0", "en0", "192.168.1.12", "set b.en0.link down", "set b.en0.link up"},
		"network":   {"en0", "en0", "192.168.1.12", "set office.link down", "set office.link up"},
		"isolated":  {"en0", "en0", "192.168.1.12", "set office.isolated yes", "set office.isolated no"},
		"sleep":     {"en0", "en0", "192.168.1.12", "sleep b", "wake b"},
		"bridge":    {"en1", "en2", "fe80::2:2%en1", "set a.en1.bridge bridge0", "set a.en1.bridge none"},
		"interface": {"en1", "en2", "fe80::2:2", "set b.en2.present no", "set b.en2.present yes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := cluster(2, "a.tb1 b.tb2")
			if name == "bridge" {
				s = bridged(s, "en3")
				s.Macs[0].Interfaces[1].Addresses = s.Macs[0].Interfaces[1].Addresses[1:] // or it cannot join
			}
			onWires(t, s, func(t *testing.T, w *wires) {
				is := is.New(t)
				a, b := w.join(c.from, c.to, c.address)
				other, there := w.join(map[string]string{"en0": "en1", "en1": "en0"}[c.from], map[string]string{"en0": "en2", "en2": "en0"}[c.to],
					map[string]string{"en0": "fe80::2:2", "en1": "192.168.1.12"}[c.from])

				w.do(c.away)
				_, err := a.Write([]byte("late"))
				is.NoErr(err) // the kernel has taken it
				is.NoErr(b.SetReadDeadline(time.Now().Add(20 * time.Millisecond)))
				_, err = b.Read(make([]byte, 9))
				is.True(errors.Is(err, os.ErrDeadlineExceeded))
				if name != "sleep" {
					_, err = other.Write([]byte("x"))
					is.NoErr(err)
					_, err = there.Read(make([]byte, 1))
					is.NoErr(err) // the other way is whole
				}
				is.NoErr(b.SetReadDeadline(time.Time{}))
				w.do(c.back)
				w.pass(memnet.DeadAfter / 2) // the addresses are back by then
				got := make([]byte, 4)
				_, err = io.ReadFull(b, got)
				is.NoErr(err)
				is.Equal(string(got), "late")

				w.do(c.away)
				w.pass(memnet.DeadAfter)
				for _, end := range []net.Conn{a, b} {
					_, err := end.Read(make([]byte, 1))
					is.True(errors.Is(err, syscall.ETIMEDOUT))
					_, err = end.Write([]byte("x"))
					is.True(errors.Is(err, syscall.ETIMEDOUT))
				}
				w.do(c.back)
				w.pass(time.Minute)
				_, err = a.Write([]byte("x"))
				is.True(errors.Is(err, syscall.ETIMEDOUT)) // for good
			})
		})
	}
}

// Who waits in Read when the path goes is held, and let go when it breaks.
func TestReadersAreLetGo(t *testing.T) {
	onWires(t, cluster(2, "a.tb1 b.tb2"), func(t *testing.T, w *wires) {
		is := is.New(t)
		a, b := w.join("en0", "en0", "192.168.1.12")
		ended := make(chan error)
		for _, end := range []net.Conn{a, b} {
			go func() {
				_, err := io.Copy(io.Discard, end)
				ended <- err
			}()
		}
		w.do("set office.link down")
		w.pass(memnet.DeadAfter)
		is.True(errors.Is(<-ended, syscall.ETIMEDOUT))
		is.True(errors.Is(<-ended, syscall.ETIMEDOUT))
	})
}

// The end of the other side is news that needs a path.
func TestTheEndWaitsForThePath(t *testing.T) {
	onWires(t, cluster(2), func(t *testing.T, w *wires) {
		is := is.New(t)
		a, b := w.join("en0", "en0", "192.168.1.12")
		w.do("set office.isolated yes")
		is.NoErr(a.Close())
		is.NoErr(b.SetReadDeadline(time.Now().Add(20 * time.Millisecond)))
		_, err := b.Read(make([]byte, 1))
		is.True(errors.Is(err, os.ErrDeadlineExceeded))
		is.NoErr(b.SetReadDeadline(time.Time{}))
		w.do("set office.isolated no")
		_, err = b.Read(make([]byte, 1))
		is.Equal(err, io.EOF)
		is.NoErr(b.Close())
		_, err = b.Read(make([]byte, 1))
		is.True(errors.Is(err, net.ErrClosed))
	})
}

func TestDialWaitsForAWay(t *testing.T) {
	onWires(t, cluster(2), func(t *testing.T, w *wires) {
		is := is.New(t)
		l, err := w.sockets["b"].Listen(t.Context(), "", netip.AddrPortFrom(netip.Addr{}, 7732))
		is.NoErr(err)
		to := w.at("169.254.101.2", l)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err = w.sockets["a"].Dial(ctx, "en1", netip.Addr{}, to)
		is.True(errors.Is(err, context.DeadlineExceeded))

		arrived := make(chan error)
		go func() {
			c, err := w.sockets["a"].Dial(t.Context(), "en1", netip.Addr{}, to)
			if err == nil {
				err = c.Close()
			}
			arrived <- err
		}()
		w.do("plug a.tb1 b.tb2")
		w.pass(sim.DelaySelfAssigned)
		is.NoErr(<-arrived)
		c, err := l.Accept()
		is.NoErr(err) // also when the caller has hung up
		is.NoErr(c.Close())
		is.NoErr(l.Close())
		_, err = l.Accept()
		is.True(errors.Is(err, net.ErrClosed))
	})
}

func TestSocketsRefuse(t *testing.T) {
	onWires(t, cluster(2, "a.tb1 b.tb2"), func(t *testing.T, w *wires) {
		is, ctx := is.New(t), t.Context()
		a, b := w.sockets["a"], w.sockets["b"]
		within := func(timeout time.Duration, iface, source, to string) error {
			var from netip.Addr
			if source != "" {
				from = netip.MustParseAddr(source)
			}
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			_, err := a.Dial(ctx, iface, from, netip.MustParseAddrPort(to))
			return err
		}
		// What is answered at once is waited for on the busiest machine too.
		dial := func(iface, source, to string) error { return within(time.Minute, iface, source, to) }
		is.True(errors.Is(dial("en0", "", "192.168.1.12:1"), syscall.ECONNREFUSED))
		is.True(errors.Is(dial("en9", "", "192.168.1.12:1"), syscall.ENODEV))
		listen := func(iface, at string) (net.Listener, error) { return b.Listen(ctx, iface, netip.MustParseAddrPort(at)) }
		l, err := listen("en0", "192.168.1.12:7732")
		is.NoErr(err)
		_, err = listen("en0", "192.168.1.12:7732")
		is.True(errors.Is(err, syscall.EADDRINUSE))
		_, err = listen("en9", "192.168.1.12:0")
		is.True(errors.Is(err, syscall.ENODEV))
		_, err = listen("en2", "192.168.1.12:0")
		is.True(errors.Is(err, syscall.EADDRNOTAVAIL))    // it is the other interface's
		other, err := listen("en2", "169.254.101.2:7732") // another address may share the port
		is.NoErr(err)
		is.NoErr(dial("en0", "192.168.1.11", "192.168.1.12:7732"))
		is.NoErr(dial("", "", "169.254.101.2:7732")) // by the way that there is
		for _, never := range [][3]string{
			{"en1", "", "192.168.1.12:7732"},                // by the wrong interface
			{"en0", "169.254.100.1", "192.168.1.12:7732"},   // from an address that is not there
			{"en1", "", "[fe80::2:2%en0]:7732"},             // in the zone of another
			{"", "", "169.254.102.2:7732"},                  // nothing is plugged in there
			{"en0", "192.168.1.11", "192.168.1.99:7732"},    // nobody's
			{"en0", "192.168.1.11", "[fe80::2:2%en1]:7732"}, // of another family
		} {
			is.True(errors.Is(within(20*time.Millisecond, never[0], never[1], never[2]), context.DeadlineExceeded))
		}
		is.NoErr(l.Close())
		is.True(errors.Is(dial("en0", "", "192.168.1.12:7732"), syscall.ECONNREFUSED))
		is.NoErr(other.Close())
	})
}

// Connections go to the listener at their address, or to the oldest at all
// addresses, whatever its interface is; the answer leaves by the interface of the
// listener.
func TestListenersAsOnMacOS(t *testing.T) {
	onWires(t, cluster(2, "a.tb1 b.tb2"), func(t *testing.T, w *wires) {
		is, ctx := is.New(t), t.Context()
		listen := func(iface, address string) net.Listener {
			at, _ := netip.ParseAddr(address)
			l, err := w.sockets["b"].Listen(ctx, iface, netip.AddrPortFrom(at, 7732))
			is.NoErr(err)
			return l
		}
		dial := func(timeout time.Duration, iface, to string) error {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			_, err := w.sockets["a"].Dial(ctx, iface, netip.Addr{}, netip.AddrPortFrom(netip.MustParseAddr(to), 7732))
			return err
		}
		all := listen("en0", "")
		later := listen("en2", "")
		is.NoErr(dial(time.Minute, "en0", "192.168.1.12"))
		is.True(errors.Is(dial(20*time.Millisecond, "en1", "fe80::2:2"), context.DeadlineExceeded)) // answered by en0
		exact := listen("en2", "fe80::2:2")
		is.NoErr(dial(time.Minute, "en1", "fe80::2:2"))
		for _, l := range []net.Listener{all, exact} {
			_, err := l.Accept()
			is.NoErr(err)
			is.NoErr(l.Close())
		}
		is.NoErr(dial(time.Minute, "en1", "fe80::2:2"))
		_, err := later.Accept()
		is.NoErr(err)
		is.NoErr(later.Close())
	})
}

// Closing a platform closes what was opened through it.
func TestClosedPlatformHasNoConnections(t *testing.T) {
	onWires(t, cluster(2), func(t *testing.T, w *wires) {
		is, ctx := is.New(t), t.Context()
		p, err := w.Platform("b")
		is.NoErr(err)
		l, err := p.Sockets.Listen(ctx, "en0", netip.MustParseAddrPort("192.168.1.12:7732"))
		is.NoErr(err)
		a, err := w.sockets["a"].Dial(ctx, "en0", netip.Addr{}, w.at("192.168.1.12", l))
		is.NoErr(err)
		_, err = l.Accept()
		is.NoErr(err)
		is.NoErr(p.Close())
		_, err = a.Read(make([]byte, 1))
		is.Equal(err, io.EOF)
		_, err = l.Accept()
		is.True(err != nil)
		_, err = p.Sockets.Listen(ctx, "en0", netip.MustParseAddrPort("192.168.1.12:7732"))
		is.True(err != nil)
		l, err = w.sockets["b"].Listen(ctx, "en0", netip.MustParseAddrPort("192.168.1.12:7732")) // the port is free again
		is.NoErr(err)
		is.NoErr(l.Close())
	})
}
