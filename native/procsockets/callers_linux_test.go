package procsockets

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest/testkit"
)

// Who has connected to a listener is told before it is accepted and after the caller has
// closed it; which process it was, for as long as that has it.
func TestWhoHasCalled(t *testing.T) {
	is := is.New(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	is.NoErr(err)
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	none, err := Processes{}.Callers(at)
	is.NoErr(err)
	is.Equal(len(none), 0)
	near, err := net.Dial("tcp4", l.Addr().String())
	is.NoErr(err)
	from := near.LocalAddr().(*net.TCPAddr).AddrPort()
	is.Equal(callers(t, at)[0], from)
	far, err := l.Accept()
	is.NoErr(err)
	defer far.Close()
	is.Equal(callers(t, at)[0], from)
	process, name, err := Processes{}.Program(from, at)
	is.NoErr(err)
	is.Equal(process, os.Getpid())
	executable, err := os.Executable()
	is.NoErr(err)
	is.Equal(name, filepath.Base(executable)[:min(15, len(filepath.Base(executable)))])
	is.NoErr(near.Close())
	is.Equal(callers(t, at)[0], from)
	_, _, err = Processes{}.Program(from, at)
	is.True(errors.Is(err, native.ErrNoOwner))
}

// callers are those of the only connection.
func callers(t *testing.T, at netip.AddrPort) []netip.AddrPort {
	t.Helper()
	all, err := Processes{}.Callers(at)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	return all
}

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

func BenchmarkCallers(b *testing.B) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	for b.Loop() {
		if _, err := (Processes{}).Callers(l.Addr().(*net.TCPAddr).AddrPort()); err != nil {
			b.Fatal(err)
		}
	}
}
