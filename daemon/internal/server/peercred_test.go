package server

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

func TestUIDIsTheKernels(t *testing.T) {
	is := is.New(t)
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	is.NoErr(err)
	defer listener.Close()
	client, err := net.Dial("unix", listener.Addr().String())
	is.NoErr(err)
	defer client.Close()
	conn, err := listener.Accept()
	is.NoErr(err)
	defer conn.Close()
	uid, err := peerUID(conn)
	is.NoErr(err)
	is.Equal(int(uid), os.Geteuid())
}

func TestNobodyVerifiesForTCP(t *testing.T) {
	is := is.New(t)
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	_, err := peerUID(a)
	is.True(errors.Is(err, errNoCredentials))
}
