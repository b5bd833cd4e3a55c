package memnet_test

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
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native/memnet"
)

// scenario is two hosts on two LANs.
func scenario() *memnet.Network {
	n := memnet.New(1)
	n.Attach("a", "en0", "office", netip.MustParseAddr("10.0.0.1"))
	n.Attach("b", "en0", "office", netip.MustParseAddr("10.0.0.2"))
	n.Attach("a", "en5", "cable", netip.MustParseAddr("fe80::1"))
	n.Attach("b", "en6", "cable", netip.MustParseAddr("fe80::2"))
	return n
}

// joined is both ends of a connection from a to b.
func joined(t *testing.T, n *memnet.Network, fromIface, toIface, to string) (a, b net.Conn) {
	t.Helper()
	is := is.New(t)
	l, err := n.Host("b").Listen(t.Context(), toIface, netip.AddrPortFrom(netip.MustParseAddr(to), 0))
	is.NoErr(err)
	t.Cleanup(func() { l.Close() })
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	a, err = n.Host("a").Dial(t.Context(), fromIface, netip.Addr{}, netip.AddrPortFrom(netip.MustParseAddr(to), port))
	is.NoErr(err)
	b, err = l.Accept()
	is.NoErr(err)
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

func TestBytesArriveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		n := scenario()
		n.SetQuality("office", memnet.Quality{Delay: time.Millisecond, Jitter: 50 * time.Millisecond, LossRatio: 0.1})
		a, b := joined(t, n, "en0", "en0", "10.0.0.2")
		sent := make([]byte, 1<<20) // more than may be on its way
		rand.Read(sent)
		go func() {
			for rest := sent; len(rest) > 0; rest = rest[min(len(rest), 1000):] {
				a.Write(rest[:min(len(rest), 1000)])
			}
			a.Close()
		}()
		got, err := io.ReadAll(b)
		is.NoErr(err)
		is.True(bytes.Equal(got, sent))
		bytes, _, dials := n.Host("a").Traffic()
		is.Equal(bytes, int64(len(sent)))
		is.Equal(dials, int64(1))
	})
}

func TestAddressesHaveTheZoneOfTheirHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a, b := joined(t, scenario(), "en5", "en6", "fe80::2%en5")
		is.Equal(a.LocalAddr().(*net.TCPAddr).AddrPort().Addr().String(), "fe80::1%en5")
		is.Equal(a.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().String(), "fe80::2%en5")
		is.Equal(b.LocalAddr().(*net.TCPAddr).AddrPort().Addr().String(), "fe80::2%en6")
		is.Equal(b.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().String(), "fe80::1%en6")
	})
}

func TestShortCutDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		n := scenario()
		a, b := joined(t, n, "en0", "en0", "10.0.0.2")
		n.SetLAN("office", false)
		_, err := a.Write([]byte("late"))
		is.NoErr(err) // the kernel has taken it
		cut := time.Now()
		time.AfterFunc(5*time.Second, func() { n.SetLAN("office", true) })
		got := make([]byte, 4)
		_, err = io.ReadFull(b, got)
		is.NoErr(err)
		is.Equal(string(got), "late")
		is.Equal(time.Since(cut), 5*time.Second)
	})
}

func TestLongCutBreaks(t *testing.T) {
	for name, cut := range map[string]func(*memnet.Network, bool){
		"LAN":   func(n *memnet.Network, up bool) { n.SetLAN("office", up) },
		"plug":  func(n *memnet.Network, up bool) { n.SetPlug("b", "en0", up) },
		"apart": func(n *memnet.Network, up bool) { n.SetApart("b", "a", !up) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				n := scenario()
				a, b := joined(t, n, "en0", "en0", "10.0.0.2")
				other, there := joined(t, n, "en5", "en6", "fe80::2")
				cut(n, false)
				for _, c := range []net.Conn{a, b} {
					_, err := c.Read(make([]byte, 1))
					is.True(errors.Is(err, syscall.ETIMEDOUT))
				}
				if name != "apart" {
					_, err := other.Write([]byte("x"))
					is.NoErr(err)
					_, err = there.Read(make([]byte, 1))
					is.NoErr(err) // the other network is whole
				}
				cut(n, true)
				joined(t, n, "en0", "en0", "10.0.0.2") // and back
			})
		})
	}
}

func TestDialing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		n := scenario()
		to := netip.MustParseAddrPort("10.0.0.2:1")
		_, err := n.Host("a").Dial(t.Context(), "en0", netip.Addr{}, to)
		is.True(errors.Is(err, syscall.ECONNREFUSED)) // nobody listens
		_, err = n.Host("a").Dial(t.Context(), "en9", netip.Addr{}, to)
		is.True(errors.Is(err, syscall.ENODEV))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = n.Host("a").Dial(ctx, "en5", netip.Addr{}, to) // by the wrong interface
		is.True(errors.Is(err, context.DeadlineExceeded))
		at := netip.MustParseAddrPort("10.0.0.2:7732")
		l, err := n.Host("b").Listen(t.Context(), "en0", at)
		is.NoErr(err)
		_, err = n.Host("b").Listen(t.Context(), "en0", at)
		is.True(errors.Is(err, syscall.EADDRINUSE))
		_, err = n.Host("b").Listen(t.Context(), "en6", at)
		is.True(errors.Is(err, syscall.EADDRNOTAVAIL))                                             // it is the other one's
		_, err = n.Host("b").Listen(t.Context(), "en6", netip.MustParseAddrPort("[fe80::2]:7732")) // another address may share the port
		is.NoErr(err)
		is.NoErr(l.Close())
		_, err = l.Accept()
		is.True(errors.Is(err, net.ErrClosed))
	})
}

// Connections go to the listener at their address, or to the oldest at all
// addresses, whatever its interface is; the answer leaves by the interface of the
// listener.
func TestListenersAsOnMacOS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		n := scenario()
		listen := func(iface, at string) net.Listener {
			address, _ := netip.ParseAddr(at)
			l, err := n.Host("b").Listen(t.Context(), iface, netip.AddrPortFrom(address, 7732))
			is.NoErr(err)
			return l
		}
		dial := func(iface, to string) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c, err := n.Host("a").Dial(ctx, iface, netip.Addr{}, netip.AddrPortFrom(netip.MustParseAddr(to), 7732))
			if err == nil {
				c.Close()
			}
			return err
		}
		all := listen("en0", "")
		later := listen("en6", "")
		is.NoErr(dial("en0", "10.0.0.2"))
		is.True(errors.Is(dial("en5", "fe80::2"), context.DeadlineExceeded)) // answered by en0
		exact := listen("en6", "fe80::2")
		is.NoErr(dial("en5", "fe80::2"))
		for _, l := range []net.Listener{all, exact} {
			_, err := l.Accept()
			is.NoErr(err)
			is.NoErr(l.Close())
		}
		is.NoErr(dial("en5", "fe80::2"))
		_, err := later.Accept()
		is.NoErr(err)
	})
}

func TestDeadlinesAndClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a, b := joined(t, scenario(), "en0", "en0", "10.0.0.2")
		is.NoErr(a.SetReadDeadline(time.Now().Add(time.Second)))
		began := time.Now()
		_, err := a.Read(make([]byte, 1))
		is.True(errors.Is(err, os.ErrDeadlineExceeded))
		is.Equal(time.Since(began), time.Second)
		is.NoErr(a.SetReadDeadline(time.Time{}))
		is.NoErr(a.SetWriteDeadline(time.Now().Add(time.Second)))
		_, err = a.Write(make([]byte, 1<<20)) // nobody reads
		is.True(errors.Is(err, os.ErrDeadlineExceeded))

		waiting := make(chan error)
		go func() {
			_, err := a.Read(make([]byte, 1))
			waiting <- err
		}()
		synctest.Wait()
		is.NoErr(a.Close())
		is.True(errors.Is(<-waiting, net.ErrClosed))
		_, err = b.Write([]byte("x"))
		is.True(errors.Is(err, syscall.EPIPE))
		_, err = io.Copy(io.Discard, b) // what was sent before arrives, then the end
		is.NoErr(err)
	})
}
