package procsockets

import (
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// spent is the CPU time of all threads.
func spent(a native.Activity) (all time.Duration) {
	for _, t := range a.Threads {
		all += t.User + t.System
	}
	return all
}

// looked looks at a group until something holds.
func looked(t *testing.T, group int, what string, holds func(native.Activity) bool) native.Activity {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		a, err := Processes{}.Activity(group)
		if err == nil && holds(a) {
			return a
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %+v, %v", what, a, err)
		}
	}
}

// What a group does counts, its children's too, and one that a signal has stopped is said to be.
func TestActivity(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := exec.Command("sh", "-c", "(while :; do cat /proc/self/stat; done) >/dev/null & read x; kill %1")
	c.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	in, err := c.StdinPipe()
	is.NoErr(err)
	is.NoErr(c.Start())
	t.Cleanup(func() {
		_ = unix.Kill(-c.Process.Pid, unix.SIGKILL)
		_ = in.Close()
		_ = c.Wait()
	})
	first := looked(t, c.Process.Pid, "two processes that run", func(a native.Activity) bool { return len(a.Threads) >= 2 && a.Halt == "" })
	looked(t, c.Process.Pid, "its child computes", func(a native.Activity) bool {
		return spent(a) > spent(first) && a.Faults > first.Faults && a.FileBytes > first.FileBytes
	})
	is.NoErr(unix.Kill(-c.Process.Pid, unix.SIGSTOP))
	looked(t, c.Process.Pid, "stopped", func(a native.Activity) bool { return a.Halt == native.HaltStopped })
	is.NoErr(unix.Kill(-c.Process.Pid, unix.SIGCONT))
	looked(t, c.Process.Pid, "goes on", func(a native.Activity) bool { return a.Halt != native.HaltStopped })
	_, err = Processes{}.Activity(1 << 30)
	is.True(err != nil) // no such process
}

// What its TCP connections carry counts, both ways, to the byte.
func TestActivityOfConnections(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	is.NoErr(err)
	defer near.Close()
	far, err := l.Accept()
	is.NoErr(err)
	defer far.Close()
	inodes := map[string]bool{}
	for _, c := range []net.Conn{near, far} {
		raw, err := c.(*net.TCPConn).SyscallConn()
		is.NoErr(err)
		is.NoErr(raw.Control(func(fd uintptr) {
			target, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd)))
			inodes[target[len("socket:["):len(target)-1]] = true
		}))
	}
	before, err := carriedBy(inodes)
	is.NoErr(err)
	_, err = near.Write(make([]byte, 1000))
	is.NoErr(err)
	_, err = io.ReadFull(far, make([]byte, 1000))
	is.NoErr(err)
	var after uint64
	for range 1000 { // until the far end has acknowledged it
		if after, err = carriedBy(inodes); err != nil || after-before >= 2000 {
			break
		}
	}
	is.NoErr(err)
	is.Equal(after-before, uint64(2000)) // sent by one, received by the other
}
