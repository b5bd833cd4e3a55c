package procsockets

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/native"
)

// sleeper is another group of processes than this one, which has the files.
func sleeper(t *testing.T, files ...*os.File) (group int) {
	t.Helper()
	c := exec.Command("sleep", "60")
	c.ExtraFiles = files
	c.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c.Process.Pid
}

func ownGroup(t *testing.T) int {
	t.Helper()
	group, err := unix.Getpgid(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return group
}

// Who listens is told of every address, and whoever waits at the door is counted.
// Others on this machine may listen at the same port of another address, or take
// one that was just closed: then it is another port's turn.
func TestWhoListens(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0"} {
		t.Run(address, func(t *testing.T) {
			for range 10 {
				if isOurs(t, address) {
					return
				}
			}
			t.Error("at ten ports others listened too, or when nobody did any more")
		})
	}
}

// isOurs looks who listens at a free port; false where somebody else did.
func isOurs(t *testing.T, address string) bool {
	is := is.New(t)
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	own, err := Processes{}.Listens(ownGroup(t), port, native.Listening{})
	is.NoErr(err)
	is.True(own.Group)
	if own.Others {
		return false
	}
	room := own.Room
	is.True(room > 1)
	other, err := Processes{}.Listens(sleeper(t), port, native.Listening{})
	is.NoErr(err)
	is.True(!other.Group && other.Others)

	conn, err := net.Dial("tcp", l.Addr().String())
	is.NoErr(err)
	defer conn.Close()
	own, err = Processes{}.Listens(ownGroup(t), port, native.Listening{})
	is.NoErr(err)
	is.Equal(own.Room, room-1)

	is.NoErr(l.Close())
	none, err := Processes{}.Listens(ownGroup(t), port, native.Listening{})
	is.NoErr(err)
	return !none.Group && !none.Others
}

// A connection belongs to whoever has its near end, and to nobody once that is
// closed. Not beside other tests: a process that one of them is about to start has, for
// a moment, every descriptor of this one.
func TestWhoHoldsAConnection(t *testing.T) {
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	is.NoErr(err)
	far, err := l.Accept()
	is.NoErr(err)
	defer far.Close()
	local, remote := near.LocalAddr().(*net.TCPAddr).AddrPort(), near.RemoteAddr().(*net.TCPAddr).AddrPort()
	for _, c := range []struct {
		what          string
		group         int
		local, remote netip.AddrPort
		want          bool
	}{
		{"one's own", ownGroup(t), local, remote, true},
		{"as another address of the same", ownGroup(t), netip.AddrPortFrom(netip.AddrFrom16(local.Addr().As16()), local.Port()), remote, true},
		{"another's", sleeper(t), local, remote, false},
		{"with somebody else", ownGroup(t), local, netip.AddrPortFrom(remote.Addr(), 1), false},
	} {
		got, err := Processes{}.Holds(c.group, c.local, c.remote)
		is.NoErr(err)
		if got != c.want {
			t.Errorf("%s: %t", c.what, got)
		}
	}
	is.NoErr(near.Close())
	got, err := Processes{}.Holds(ownGroup(t), local, remote)
	is.NoErr(err)
	is.True(!got)
}

// What listens is the same until another socket does, whoever asks.
func TestWhoListensStill(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	port := listen(t)
	own, err := Processes{}.Listens(ownGroup(t), port, native.Listening{})
	is.NoErr(err)
	is.True(own.Group && own.Sockets != "")
	again, err := Processes{}.Listens(ownGroup(t), port, own)
	is.NoErr(err)
	is.Equal(again, own)
	stale, err := Processes{}.Listens(sleeper(t), port, native.Listening{Group: true, Sockets: own.Sockets + " 1"})
	is.NoErr(err)
	is.True(!stale.Group && stale.Others)
}

// Where somebody else listens beside the group, which of the sockets are the group's is
// looked for once: asked for a group that has none, what was known is given.
func TestWhoListensBesideOthers(t *testing.T) {
	is := is.New(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	beside, err := net.Listen("tcp", netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 2}), uint16(port)).String())
	is.NoErr(err)
	file, err := beside.(*net.TCPListener).File()
	is.NoErr(err)
	group := sleeper(t, file)
	is.NoErr(errors.Join(file.Close(), beside.Close()))
	own, err := Processes{}.Listens(ownGroup(t), port, native.Listening{})
	is.NoErr(err)
	is.True(own.Group && own.Others)
	theirs, err := Processes{}.Listens(group, port, native.Listening{})
	is.NoErr(err)
	is.True(theirs.Group && theirs.Others && theirs.Sockets != own.Sockets)
	again, err := Processes{}.Listens(group, port, own)
	is.NoErr(err)
	is.Equal(again, own)
	fresh, err := Processes{}.Listens(group, port, native.Listening{Group: true, Others: true, Sockets: own.Sockets + " 1"})
	is.NoErr(err)
	is.Equal(fresh, theirs)
}

// Of sockets that the kernel's table has twice one is left; all with inode 0 are.
func TestOnce(t *testing.T) {
	is := is.New(t)
	a, b, none := row{inode: "1"}, row{inode: "2"}, row{inode: "0"}
	is.Equal(once([]row{a, none, b, a, none, b}), []row{a, none, b, none})
}

func BenchmarkWhoListens(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	group, err := unix.Getpgid(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	for _, known := range []bool{false, true} {
		b.Run(map[bool]string{true: "known", false: "new"}[known], func(b *testing.B) {
			var before native.Listening
			for b.Loop() {
				now, err := Processes{}.Listens(group, l.Addr().(*net.TCPAddr).Port, before)
				if err != nil || !now.Group {
					b.Fatal(now, err)
				}
				if known {
					before = now
				}
			}
		})
	}
}

func BenchmarkNobodyListens(b *testing.B) {
	for b.Loop() {
		if _, err := (Processes{}).Listens(os.Getpid(), 1, native.Listening{}); err != nil {
			b.Fatal(err)
		}
	}
}

// listen listens at a port until the test ends: at every address, so that nobody
// else on this machine can at the same one.
func listen(t *testing.T) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}
