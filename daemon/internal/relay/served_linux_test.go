package relay_test

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// The port is told when a process of the rank's group listens, and no sooner.
func TestAListeningProgramIsNoticed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer other.Close()
	second := other.Addr().(*net.TCPAddr).Port
	group, err := unix.Getpgid(os.Getpid())
	is.NoErr(err)

	reported := make(chan []int, 4)
	stop := p.studio.Serve(rank0, group, []int{p.port, second}, func(open []int) { reported <- open })
	defer stop()
	open := <-reported
	is.Equal(len(open), 2)

	// Another group's listener is not the rank's.
	sleeper := exec.Command("sleep", "60")
	sleeper.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	is.NoErr(sleeper.Start())
	defer func() { _ = sleeper.Wait() }()
	defer func() { _ = sleeper.Process.Kill() }()
	none := make(chan []int, 4)
	rank := rank0
	rank.Attempt = 2
	defer p.studio.Serve(rank, sleeper.Process.Pid, []int{p.port}, func(open []int) { none <- open })()

	// A refused connection says that the program listens no more.
	is.NoErr(p.laptop.Open(p.spec(false), rank0, studio))
	is.NoErr(p.program.Close())
	_, _ = net.Dial("tcp", netip.AddrPortFrom(published, uint16(p.port)).String())
	is.Equal(<-reported, []int{second})
	again, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(p.port))
	is.NoErr(err)
	defer again.Close()
	is.Equal(len(<-reported), 2)
	is.Equal(len(none), 0)
}
