package procsockets

import (
	"errors"
	"net"
	"os"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/nativetest"
)

// Whose a connection is, the kernel says at both ends; the end alone tells, not
// who listens.
func TestWhoseAConnectionIs(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer l.Close()
	owner := func(conn net.Conn) (uint32, error) {
		return Processes{}.Owner(conn.LocalAddr().(*net.TCPAddr).AddrPort(), conn.RemoteAddr().(*net.TCPAddr).AddrPort())
	}
	own, err := net.Dial("tcp", l.Addr().String())
	is.NoErr(err)
	uid, err := owner(own)
	is.NoErr(err)
	is.Equal(int(uid), os.Geteuid())
	is.NoErr(own.Close())
	_, err = owner(own) // no process has it open any more
	is.True(errors.Is(err, native.ErrNoOwner))

	theirs := nativetest.DialAs(t, 54321, l.Addr().String())
	uid, err = owner(theirs)
	is.NoErr(err)
	is.Equal(uid, uint32(54321))
	rows, err := read(func(uint64, uint64) bool { return true }) // the table says the same
	is.NoErr(err)
	local, remote := theirs.LocalAddr().(*net.TCPAddr).AddrPort(), theirs.RemoteAddr().(*net.TCPAddr).AddrPort()
	for _, r := range rows {
		if r.local == local && r.remote == remote { // a port may have others that have ended
			is.Equal(r.uid, uint32(54321))
			return
		}
	}
	t.Error("the table does not have it")
}
