package nativetest

import (
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
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
	conn, err := dialAs(uid, unix.AF_INET, &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// SocketAs makes a Unix socket whose connections go on to another one as another
// account. It takes root, and the test is skipped without.
func SocketAs(t testing.TB, uid int, to string) (path string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another account")
	}
	folder, err := os.MkdirTemp("", "as")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	path = filepath.Join(folder, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := dialAs(uid, unix.AF_UNIX, &unix.SockaddrUnix{Name: to})
			if err != nil {
				_ = near.Close() // the client says that nobody answers
				continue
			}
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				go func() {
					_, _ = io.Copy(way[0], way[1])
					_, _ = way[0].Close(), way[1].Close()
				}()
			}
		}
	}()
	return path
}

// dialAs connects a socket of an account: its files' for sockets of TCP, and its own
// for those of Unix. A thread has accounts of its own in the kernel's eyes, which no
// other thread is touched by as long as Go's runtime, which sets all, is not asked.
func dialAs(uid, family int, to unix.Sockaddr) (net.Conn, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own := os.Geteuid() // before, since it asks for this thread's
	if err := setThread(uid); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		if err = unix.Connect(fd, to); err != nil {
			_ = unix.Close(fd)
		}
	}
	if back := setThread(own); back != nil {
		panic(back) // the thread would go on as somebody else
	}
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "a connection")
	defer file.Close() // the connection has a descriptor of its own
	return net.FileConn(file)
}

// setThread sets the effective account of the calling thread alone, and with it that
// of its files.
func setThread(uid int) error {
	const same = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, same, uintptr(uid), same); errno != 0 {
		return errno
	}
	return nil
}
