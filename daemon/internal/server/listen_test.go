package server_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/server/servertest"
)

func TestListenTCPTakesTheNextFree(t *testing.T) {
	is := is.New(t)
	first, err := server.ListenTCP(0)
	is.NoErr(err)
	defer first.Close()
	taken := first.Addr().(*net.TCPAddr)
	is.True(taken.IP.IsLoopback())
	next, err := server.ListenTCP(taken.Port)
	is.NoErr(err)
	defer next.Close()
	is.True(next.Addr().(*net.TCPAddr).Port > taken.Port)
	_, err = server.ListenTCP(-1)
	is.True(errors.Is(err, api.CodeInvalid))
	_, err = server.ListenTCP(65536)
	is.True(errors.Is(err, api.CodeInvalid))
}

func TestListenUnix(t *testing.T) {
	is := is.New(t)
	dir, err := os.MkdirTemp("", "fulmen")
	is.NoErr(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, api.SocketFile)
	l, err := server.ListenUnix(path)
	is.NoErr(err)
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode(), fs.ModeSocket|0o666)
	_, err = server.ListenUnix(path)
	is.True(errors.Is(err, api.ReasonAlreadyRunning)) // somebody answers there

	l.(*net.UnixListener).SetUnlinkOnClose(false) // as after kill -9
	is.NoErr(l.Close())
	l, err = server.ListenUnix(path)
	is.NoErr(err)
	is.NoErr(l.Close())

	is.NoErr(os.WriteFile(path, []byte("mine"), 0o600))
	_, err = server.ListenUnix(path)
	is.True(err != nil)
	content, err := os.ReadFile(path)
	is.NoErr(err)
	is.Equal(string(content), "mine") // left alone

	_, err = server.ListenUnix(filepath.Join(dir, strings.Repeat("x", 100)))
	is.True(errors.Is(err, api.CodeInvalid))
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	is := is.New(t)
	a := servertest.Start(t, nil)
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	is.NoErr(err)
	defer l.Close()
	err = a.Server.Serve(l)
	is.True(err != nil && !errors.Is(err, server.ErrClosed))
}
