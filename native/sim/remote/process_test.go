package remote_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/sim/remote"
)

// The environment by which this program knows that it is to be a daemon.
const (
	daemonSocket = "FULMEN_TEST_WORLD"
	daemonMac    = "FULMEN_TEST_MAC"
)

func TestMain(m *testing.M) {
	if socket := os.Getenv(daemonSocket); socket != "" {
		if err := runProcess(socket, os.Getenv(daemonMac)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// runProcess announces a Mac and echoes what comes in, until standard input ends.
func runProcess(socket, mac string) error {
	w, err := remote.Dial(context.Background(), socket)
	if err != nil {
		return err
	}
	p, err := w.Platform(mac)
	if err != nil {
		return err
	}
	l, err := p.Sockets.Listen(context.Background(), "en0", netip.AddrPortFrom(netip.Addr{}, 7732))
	if err != nil {
		return err
	}
	_, err = p.Discovery.Announce(context.Background(), native.Announcement{Type: "_fulmen._tcp", Instance: mac, Port: 7732, Interfaces: []string{"en0"}})
	if err != nil {
		return err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c) }()
		}
	}()
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// start starts a process that is a Mac, and waits until it is ready.
func start(t *testing.T, socket, mac string) *exec.Cmd {
	t.Helper()
	is := is.New(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), daemonSocket+"="+socket, daemonMac+"="+mac)
	c.Stderr = os.Stderr
	life, err := c.StdinPipe() // it ends with this process
	is.NoErr(err)
	out, err := c.StdoutPipe()
	is.NoErr(err)
	is.NoErr(c.Start())
	t.Cleanup(func() {
		_ = life.Close()
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	is.NoErr(err)
	is.Equal(line, "ready\n")
	return c
}

// Three processes: what one that is killed had announced, opened and joined is
// gone for the others, and a new one takes its place.
func TestKilledProcessLeavesNothing(t *testing.T) {
	is := is.New(t)
	socket, world, _ := atSocket(t, "two-studios")
	a := attach(t, socket, "studio-1")
	lan := way(t, a, world, "studio-1", "studio-2", native.InterfaceEthernet)
	is.Equal(lan.PeerInterface, "en0")
	to := netip.AddrPortFrom(lan.Address, 7732)
	seen := make(chan native.Sighting, 16)
	_, err := a.Discovery.Browse(t.Context(), "_fulmen._tcp", nil, func(s native.Sighting) {
		if s.Interface == lan.Interface {
			seen <- s
		}
	})
	is.NoErr(err)

	for range 2 {
		b := start(t, socket, "studio-2")
		is.True(!(<-seen).Gone)
		conn, err := a.Sockets.Dial(t.Context(), lan.Interface, lan.Source, to)
		is.NoErr(err)
		_, err = conn.Write([]byte("echo"))
		is.NoErr(err)
		got := make([]byte, 4)
		_, err = io.ReadFull(conn, got)
		is.NoErr(err)
		is.Equal(string(got), "echo")

		is.NoErr(b.Process.Kill())
		_, err = conn.Read(got)
		is.True(err != nil)
		is.True((<-seen).Gone)
		_, err = a.Sockets.Dial(t.Context(), lan.Interface, lan.Source, to)
		is.True(err != nil) // nobody listens any more
		is.NoErr(conn.Close())
	}
}
