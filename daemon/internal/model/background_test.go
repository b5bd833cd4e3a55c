package model

import (
	"crypto/tls"
	"errors"
	"net"
	"runtime"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// TestBackground: the socket below TLS gets the class; what is no socket has none.
func TestBackground(t *testing.T) {
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	is.NoErr(err)
	defer conn.Close()
	is.NoErr(background(tls.Client(conn, &tls.Config{})))
	option := 0x1116
	if runtime.GOOS == "linux" {
		option = 12
	}
	raw, err := conn.(*net.TCPConn).SyscallConn()
	is.NoErr(err)
	got := 0
	is.NoErr(raw.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, option) }))
	is.NoErr(err)
	is.Equal(got, 1)
	near, far := net.Pipe()
	defer far.Close()
	defer near.Close()
	is.True(errors.Is(background(near), errors.ErrUnsupported))
}
