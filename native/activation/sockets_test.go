package activation

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// asChild makes the test binary a program that takes what was handed over: it says
// what it got, answers one connection of each, twice, and ends.
const asChild = "FULMEN_TEST_TAKES_SOCKETS"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) == "" {
		os.Exit(m.Run())
	}
	// A parent in Go does not know the number of its child before it has started it.
	os.Setenv(envPID, strconv.Itoa(os.Getpid()))
	if err := answer(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer() error {
	sockets, err := Take()
	if err != nil {
		return err
	}
	if left := os.Getenv(envCount) + os.Getenv(envPID) + os.Getenv(envNames); left != "" {
		return fmt.Errorf("the environment still has %q", left)
	}
	for range 2 { // a daemon that begins anew listens once more
		listeners, err := sockets.Listen()
		if err != nil {
			return err
		}
		for _, l := range listeners {
			fmt.Println(l.Addr())
			conn, err := l.Accept()
			if err != nil {
				return err
			}
			fmt.Fprintln(conn, "here")
			conn.Close()
			l.Close()
		}
	}
	return sockets.Close()
}

// handOver starts the child with files as its descriptors from 3 on.
func handOver(t *testing.T, names string, files ...*os.File) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), asChild+"=1", envCount+"="+strconv.Itoa(len(files)), envNames+"="+names)
	c.ExtraFiles = files
	return c
}

func fileOf(t *testing.T, l interface{ File() (*os.File, error) }) *os.File {
	t.Helper()
	f, err := l.File()
	is.New(t).NoErr(err)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestTake(t *testing.T) {
	is := is.New(t)
	folder, err := os.MkdirTemp("", "act") // short enough for a socket
	is.NoErr(err)
	defer os.RemoveAll(folder)
	unix, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, "s"), Net: "unix"})
	is.NoErr(err)
	defer unix.Close()
	tcp, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	is.NoErr(err)
	defer tcp.Close()
	child := handOver(t, "unix:api", fileOf(t, unix), fileOf(t, tcp))
	var out, complaints strings.Builder
	child.Stdout, child.Stderr = &out, &complaints
	is.NoErr(child.Start())
	want := ""
	for range 2 {
		for _, l := range []net.Listener{unix, tcp} {
			conn, err := net.Dial(l.Addr().Network(), l.Addr().String())
			is.NoErr(err)
			reported := make([]byte, 4)
			_, err = conn.Read(reported)
			is.NoErr(err) // the socket is still there after a listener of it was closed
			is.Equal(string(reported), "here")
			conn.Close()
			want += l.Addr().String() + "\n"
		}
	}
	is.NoErr(child.Wait())
	is.Equal(complaints.String(), "")
	is.Equal(out.String(), want)
	_, err = os.Stat(filepath.Join(folder, "s"))
	is.NoErr(err) // whoever holds it has it
}

func TestTakeWhatListensNot(t *testing.T) {
	is := is.New(t)
	r, w, err := os.Pipe()
	is.NoErr(err)
	defer r.Close()
	defer w.Close()
	out, err := handOver(t, "unix", r).CombinedOutput()
	is.True(err != nil)
	is.True(strings.Contains(string(out), "descriptor 3 (unix)"))
}

func TestNone(t *testing.T) {
	is := is.New(t)
	var none Sockets
	is.Equal(none.Len(), 0)
	listeners, err := none.Listen()
	is.NoErr(err)
	is.Equal(len(listeners), 0)
	is.NoErr(none.Close())
	taken, err := Take("api", "unix")
	is.NoErr(err)
	is.Equal(taken.Len(), 0)
}
