package remote_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/memnet"
	"fulmen/native/nativetest"
	"fulmen/native/sim"
	"fulmen/native/sim/remote"
)

// atSocket hosts a world at a Unix socket, on a clock that is moved by hand.
func atSocket(t *testing.T, name string) (socket string, world *sim.World, clock *nativetest.Clock) {
	t.Helper()
	is := is.New(t)
	clock = nativetest.NewClock(time.Now())
	world, err := sim.New(load(t, name), clock)
	is.NoErr(err)
	folder, err := os.MkdirTemp("", "sim") // short: the path of a socket is
	is.NoErr(err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket = filepath.Join(folder, "world.sock")
	l, err := net.Listen("unix", socket)
	is.NoErr(err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- remote.Serve(ctx, l, world) }()
	t.Cleanup(func() {
		cancel()
		is.NoErr(<-served)
		is.NoErr(world.Close())
		is.Equal(clock.Pending(), 0)
	})
	return socket, world, clock
}

// attach is a Mac of a world at a socket, as a process of its own has it.
func attach(t *testing.T, socket, mac string) native.Platform {
	t.Helper()
	w, err := remote.Dial(t.Context(), socket)
	is.New(t).NoErr(err)
	p, err := w.Platform(mac)
	is.New(t).NoErr(err)
	t.Cleanup(func() { is.New(t).NoErr(errors.Join(p.Close(), w.Close())) })
	return p
}

// way is the best way from one Mac to another over interfaces of one type.
func way(t *testing.T, p native.Platform, world *sim.World, from, to string, kind native.InterfaceType) sim.Reach {
	t.Helper()
	s, err := p.Facts.Snapshot(t.Context(), native.AreaNetwork)
	is.New(t).NoErr(err)
	for _, r := range world.Reach(from) {
		if i, _ := s.Network.Interface(r.Interface); r.Peer == to && i.Type == kind {
			return r
		}
	}
	t.Fatalf("no way over %s from %s to %s", kind, from, to)
	return sim.Reach{}
}

func TestSocketsBetweenProcesses(t *testing.T) {
	is := is.New(t)
	socket, world, clock := atSocket(t, "two-studios")
	a, b := attach(t, socket, "studio-1"), attach(t, socket, "studio-2")
	cable := way(t, a, world, "studio-1", "studio-2", native.InterfaceThunderbolt)
	lan := way(t, a, world, "studio-1", "studio-2", native.InterfaceEthernet)

	join := func(r sim.Reach) (net.Conn, net.Conn) {
		l, err := b.Sockets.Listen(t.Context(), r.PeerInterface, netip.AddrPortFrom(r.Address, 7732))
		is.NoErr(err)
		_, err = b.Sockets.Listen(t.Context(), r.PeerInterface, netip.AddrPortFrom(r.Address, 7732))
		is.True(errors.Is(err, syscall.EADDRINUSE))
		near, err := a.Sockets.Dial(t.Context(), r.Interface, r.Source, netip.AddrPortFrom(r.Address, 7732))
		is.NoErr(err)
		far, err := l.Accept()
		is.NoErr(err)
		is.NoErr(l.Close())
		_, err = a.Sockets.Dial(t.Context(), r.Interface, r.Source, netip.AddrPortFrom(r.Address, 7732))
		is.True(errors.Is(err, syscall.ECONNREFUSED))
		return near, far
	}
	near, far := join(lan)
	is.Equal(far.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().WithZone(""), lan.Source)
	is.Equal(near.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().WithZone(""), lan.Address)
	wired, there := join(cable)

	network := load(t, "two-studios").Networks[0].Name
	is.NoErr(world.Apply(op(t, "set "+network+".isolated yes")))
	// News of the cut comes before whatever the world answers after it.
	_, err := b.Facts.Snapshot(t.Context())
	is.NoErr(err)
	_, err = near.Write([]byte("late"))
	is.NoErr(err)
	is.NoErr(far.SetReadDeadline(time.Now().Add(20 * time.Millisecond)))
	_, err = far.Read(make([]byte, 4))
	is.True(errors.Is(err, os.ErrDeadlineExceeded))
	is.NoErr(far.SetReadDeadline(time.Time{}))
	_, err = wired.Write([]byte("x"))
	is.NoErr(err)
	_, err = there.Read(make([]byte, 1)) // the cable is whole
	is.NoErr(err)
	is.NoErr(world.Apply(op(t, "set "+network+".isolated no")))
	got := make([]byte, 4)
	_, err = io.ReadFull(far, got)
	is.NoErr(err)
	is.Equal(string(got), "late")

	is.NoErr(world.Apply(op(t, "set "+network+".isolated yes")))
	clock.Advance(memnet.DeadAfter)
	for _, end := range []net.Conn{near, far} {
		_, err := end.Read(make([]byte, 1))
		is.True(errors.Is(err, syscall.ETIMEDOUT))
	}

	// Who gives up dialling leaves nothing behind.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = a.Sockets.Dial(ctx, lan.Interface, netip.Addr{}, netip.AddrPortFrom(lan.Address, 7732))
	is.True(errors.Is(err, context.DeadlineExceeded))
}

// When the world goes, so do the connections.
func TestConnectionsEndWithTheWorld(t *testing.T) {
	is := is.New(t)
	clock := nativetest.NewClock(time.Now())
	h := host(t, load(t, "two-studios"), clock)
	w := h.dial(t)
	a, err := w.Platform("studio-1")
	is.NoErr(err)
	defer a.Close()
	b, err := w.Platform("studio-2")
	is.NoErr(err)
	defer b.Close()
	lan := way(t, a, h.World, "studio-1", "studio-2", native.InterfaceEthernet)
	l, err := b.Sockets.Listen(t.Context(), lan.PeerInterface, netip.AddrPortFrom(lan.Address, 0))
	is.NoErr(err)
	defer l.Close()
	near, err := a.Sockets.Dial(t.Context(), "", netip.Addr{}, netip.AddrPortFrom(lan.Address, uint16(l.Addr().(*net.TCPAddr).Port)))
	is.NoErr(err)
	h.end()
	_, err = near.Read(make([]byte, 1))
	_, gone := errors.AsType[*remote.GoneError](err)
	// The other Mac may hear of the end first, and close its side.
	is.True(gone || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET))
	_, err = a.Sockets.Dial(t.Context(), "", netip.Addr{}, netip.AddrPortFrom(lan.Address, 1))
	_, gone = errors.AsType[*remote.GoneError](err)
	is.True(gone)
}
