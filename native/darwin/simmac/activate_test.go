//go:build cgo && linux && darwinsim

package simmac_test

import (
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/darwin"
	"fulmen/native/darwin/simfw"
)

// launchd hands a socket over once, by the name that the property list has; what it
// does not have is none, and an error only where the system says more.
func TestLaunchdSockets(t *testing.T) {
	clean(t)
	is := is.New(t)
	m := simfw.New()
	defer m.Close()
	mac := darwin.Simulated{Machine: m}
	files, err := mac.LaunchdSockets("api")
	is.NoErr(err) // started in a terminal
	is.Equal(len(files), 0)

	held, err := net.Listen("tcp4", "127.0.0.1:0")
	is.NoErr(err)
	defer held.Close()
	file, err := held.(*net.TCPListener).File()
	is.NoErr(err)
	defer file.Close()
	many := make([]any, 12)
	for i := range many {
		many[i] = int(file.Fd())
	}
	m.SetValue("launchd", map[string]any{
		"api": []any{int(file.Fd())}, "none": []any{}, "many": many, "broken": int(syscall.ENOMEM),
	})
	for name, want := range map[string]int{"api": 1, "unix": 0, "none": 0, "many": 8} {
		files, err := mac.LaunchdSockets(name)
		is.NoErr(err)
		is.Equal(len(files), want)
		for _, f := range files {
			if name == "api" {
				served(t, f, held.Addr().String())
			}
			is.NoErr(f.Close()) // no descriptor is two files'
		}
	}
	files, err = mac.LaunchdSockets("api")
	is.NoErr(err) // taken before
	is.Equal(len(files), 0)
	_, err = mac.LaunchdSockets("broken")
	is.True(err != nil)
}

// served checks that a descriptor is the socket at an address.
func served(t *testing.T, f *os.File, address string) {
	t.Helper()
	is := is.New(t)
	l, err := net.FileListener(f)
	is.NoErr(err)
	defer l.Close()
	is.Equal(l.Addr().String(), address)
	conn, err := net.Dial("tcp4", address)
	is.NoErr(err)
	defer conn.Close()
	accepted, err := l.Accept()
	is.NoErr(err)
	is.NoErr(accepted.Close())
}
