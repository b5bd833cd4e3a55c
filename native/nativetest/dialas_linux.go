package nativetest

import (
	"net"
	"net/netip"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// DialAs connects to a TCP address of IPv4 as another account: to the kernel the
// connection is that account's. It takes root, and the test is skipped without.
func DialAs(t testing.TB, uid int, address string) net.Conn {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another account")
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		t.Fatal(err)
	}
	fd, err := socketAs(uid)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), address)
	defer file.Close() // the connection has a descriptor of its own
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}); err != nil {
		t.Fatal(err)
	}
	conn, err := net.FileConn(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// socketAs makes a socket of an account. A thread has an account of its own for
// files and sockets (setfsuid(2)), which no other thread is touched by.
func socketAs(uid int) (fd int, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Setfsuid(uid); err != nil {
		return -1, err
	}
	defer func() { _ = unix.Setfsuid(os.Geteuid()) }()
	return unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
}
