package linux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/native"
	"fulmen/native/unitrecord"
)

const supervised = "FULMEN_TEST_SUPERVISED"

// TestSupervisedProgram is no test: it is the program of the units below. It
// starts a child that leaves everything behind, listens, and repeats what it is
// told.
func TestSupervisedProgram(t *testing.T) {
	socket := os.Getenv(supervised)
	if socket == "" {
		t.Skip("the program of other tests")
	}
	child := exec.Command("sleep", "1000")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var listener net.Listener
	var err error
	if number := os.Getenv(unitrecord.SocketVariable); number != "" {
		if number != "3" {
			t.Fatalf("the socket is descriptor %s", number)
		}
		listener, err = net.FileListener(os.NewFile(3, socket))
	} else {
		listener, err = net.Listen("unix", socket)
	}
	if err != nil {
		t.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%d %d\n", os.Getpid(), child.Process.Pid)
		_, _ = io.Copy(conn, conn)
		if _, err := os.Stat(socket + ".over"); err == nil {
			os.Exit(0)
		}
	}
}

// TestDaemonThatStartsAUnit is no test either: it starts a unit and waits to be
// killed.
func TestDaemonThatStartsAUnit(t *testing.T) {
	folder := os.Getenv("FULMEN_TEST_DAEMON")
	if folder == "" {
		t.Skip("a part of another test")
	}
	if err := newSupervisor(Options{Units: filepath.Join(folder, "units")}).Start(t.Context(), unitIn(folder)); err != nil {
		t.Fatal(err)
	}
	fmt.Println("started")
	select {}
}

const unitLabel = "org.fulmen.rank.j4k2m9xq7.0"

func unitIn(folder string) native.Unit {
	socket := filepath.Join(folder, "s")
	return native.Unit{
		Label: unitLabel, Program: os.Args[0], Args: []string{"-test.run=^TestSupervisedProgram$"},
		Env: []string{supervised + "=" + socket, "PATH=" + os.Getenv("PATH")}, Dir: "/", Socket: socket, ErrorLog: filepath.Join(folder, "log"),
	}
}

// bench is a supervisor without systemd in a folder of its own; the path is
// short, for the socket.
func bench(t *testing.T) (*supervisor, string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "unit")
	if err != nil {
		t.Fatal(err)
	}
	s := newSupervisor(Options{Units: filepath.Join(folder, "units")})
	s.systemd = nil
	t.Cleanup(func() {
		_ = s.Remove(context.Background(), unitLabel) // the test's own context has ended
		_ = s.end(context.Background(), unitrecord.Record{Label: unitLabel})
		os.RemoveAll(folder)
	})
	return s, folder
}

// until waits for what nothing announces to a test.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	end := time.After(2 * time.Minute)
	for !is() {
		select {
		case <-end:
			t.Fatalf("still waiting for %s", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// talk attaches to the unit and returns the connection and the numbers of its
// two processes.
func talk(t *testing.T, s *supervisor) (conn net.Conn, first, child int) {
	t.Helper()
	until(t, "the unit's socket", func() bool {
		var err error
		conn, err = s.Attach(t.Context(), unitLabel)
		if err != nil && !errors.Is(err, native.ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	})
	if _, err := fmt.Fscan(conn, &first, &child); err != nil {
		t.Fatal(err)
	}
	return conn, first, child
}

func ended(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		// Not a zombie either.
		until(t, fmt.Sprintf("the end of %d", pid), func() bool { _, there := readProcess(pid); return !there })
	}
}

func TestAUnitFromStartToRemoval(t *testing.T) {
	is := is.New(t)
	s, folder := bench(t)
	unit := unitIn(folder)
	is.NoErr(s.Start(t.Context(), unit))
	is.True(errors.Is(s.Start(t.Context(), unit), native.ErrExists))
	conn, first, child := talk(t, s)
	defer conn.Close()

	session, err := unix.Getsid(first)
	is.NoErr(err)
	is.Equal(session, first) // no signal to this one's group or terminal reaches it
	units, err := s.List(t.Context(), "org.fulmen.rank.")
	is.NoErr(err)
	is.Equal(units, []native.UnitStatus{{Label: unitLabel, State: native.UnitRunning, PID: first, Socket: unit.Socket}})
	units, err = s.List(t.Context(), "org.fulmen.other.")
	is.NoErr(err)
	is.Equal(len(units), 0)

	is.NoErr(s.Remove(t.Context(), unitLabel))
	ended(t, first, child)
	is.True(errors.Is(s.Remove(t.Context(), unitLabel), native.ErrNotFound))
	_, err = s.Attach(t.Context(), unitLabel)
	is.True(errors.Is(err, native.ErrNotFound))
	_, err = os.Stat(unit.Socket)
	is.True(os.IsNotExist(err))
	is.NoErr(s.Start(t.Context(), unit)) // the label is free again
}

func TestAUnitOutlivesItsDaemon(t *testing.T) {
	is := is.New(t)
	s, folder := bench(t)
	if newSupervisor(Options{Units: folder}).systemd != nil {
		t.Skip("systemd runs here: its units are tested by TestSystemd")
	}
	daemon := exec.Command(os.Args[0], "-test.run=^TestDaemonThatStartsAUnit$")
	daemon.Env = append(os.Environ(), "FULMEN_TEST_DAEMON="+folder)
	daemon.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := daemon.StdoutPipe()
	is.NoErr(err)
	is.NoErr(daemon.Start())
	reported := make([]byte, 8)
	_, err = io.ReadFull(out, reported)
	is.NoErr(err)
	is.Equal(string(reported), "started\n")
	is.NoErr(syscall.Kill(-daemon.Process.Pid, syscall.SIGKILL)) // and all that it took along
	is.True(daemon.Wait() != nil)

	conn, first, child := talk(t, s)
	defer conn.Close()
	units, err := s.List(t.Context(), "org.fulmen.")
	is.NoErr(err)
	is.Equal(units[0].PID, first)

	// A daemon that was killed before it knew the process's number.
	r, err := s.Store.Get(unitLabel)
	is.NoErr(err)
	r.PID, r.Started = 0, 0
	is.NoErr(s.Store.Set(r))
	units, err = s.List(t.Context(), "org.fulmen.")
	is.NoErr(err)
	is.Equal(units[0].PID, first)

	// What ends by itself is remembered, and leaves no zombie.
	is.NoErr(os.WriteFile(unitIn(folder).Socket+".over", nil, 0o600))
	is.NoErr(conn.Close())
	ended(t, first)
	r.PID, r.Started = first, 1
	is.NoErr(s.Store.Set(r))
	units, err = s.List(t.Context(), "org.fulmen.")
	is.NoErr(err)
	is.Equal(units[0].State, native.UnitEnded)
	is.NoErr(s.Remove(t.Context(), unitLabel))
	ended(t, child) // though it had left everything, and nobody was above it
}

func TestAUnitThatEndedIsForgotten(t *testing.T) {
	is := is.New(t)
	s, folder := bench(t)
	is.NoErr(s.Start(t.Context(), unitIn(folder)))
	conn, first, child := talk(t, s)
	// One that lives is waited for, and no longer than who asks would.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	is.True(errors.Is(s.Forget(ctx, unitLabel), context.Canceled))
	_, err := s.Store.Get(unitLabel)
	is.NoErr(err)

	is.NoErr(os.WriteFile(unitIn(folder).Socket+".over", nil, 0o600))
	is.NoErr(conn.Close())
	is.NoErr(s.Forget(t.Context(), unitLabel)) // it waits for the end
	ended(t, first)
	is.True(errors.Is(s.Forget(t.Context(), unitLabel), native.ErrNotFound))
	_, err = os.Stat(unitIn(folder).Socket)
	is.True(os.IsNotExist(err))
	is.NoErr(kill(child)) // nobody has looked for it
	ended(t, child)

	// One that does not end is removed after a while.
	is.NoErr(os.Remove(unitIn(folder).Socket + ".over"))
	is.NoErr(s.Start(t.Context(), unitIn(folder)))
	conn, first, child = talk(t, s)
	defer conn.Close()
	is.NoErr(s.Forget(t.Context(), unitLabel))
	ended(t, first, child)
}

// A daemon that started itself again in its own place has children that it does
// not know of.
func TestAnEndedUnitLeavesNoZombie(t *testing.T) {
	is := is.New(t)
	s, folder := bench(t)
	is.NoErr(s.Start(t.Context(), unitIn(folder)))
	conn, first, child := talk(t, s)
	is.NoErr(os.WriteFile(unitIn(folder).Socket+".over", nil, 0o600))
	is.NoErr(conn.Close())

	again := &supervisor{Store: s.Store, boot: s.boot}
	until(t, "its end", func() bool {
		units, err := again.List(t.Context(), "")
		is.NoErr(err)
		return units[0].State == native.UnitEnded
	})
	_, there := readProcess(first)
	is.True(!there)
	is.NoErr(again.Remove(t.Context(), unitLabel))
	ended(t, child)
}

func TestARecordOfAnotherBootNamesNoProcess(t *testing.T) {
	is := is.New(t)
	s, folder := bench(t)
	p, ok := readProcess(os.Getpid())
	is.True(ok)
	is.NoErr(s.Store.Add(unitrecord.Record{Label: unitLabel, Socket: filepath.Join(folder, "s"), PID: os.Getpid(), Started: p.Starttime, Boot: "another"}))
	units, err := s.List(t.Context(), "")
	is.NoErr(err)
	is.Equal(units[0].State, native.UnitEnded)
	is.NoErr(s.Remove(t.Context(), unitLabel)) // and this process lives on
}

// A unit is given its socket: who connects at once is answered once it runs, and
// one that ends before it has come to that is heard of.
func TestAUnitThatIsGivenItsSocket(t *testing.T) {
	is := is.New(t)
	s, folder := bench(t)
	unit := unitIn(folder)
	unit.TakesSocket = true
	is.NoErr(os.WriteFile(unit.Socket, nil, 0o600)) // what was left there is in nobody's way
	is.NoErr(s.Start(t.Context(), unit))
	info, err := os.Stat(unit.Socket)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	conn, err := s.Attach(t.Context(), unitLabel)
	is.NoErr(err)
	defer conn.Close()
	var first, child int
	_, err = fmt.Fscan(conn, &first, &child)
	is.NoErr(err)
	units, err := s.List(t.Context(), "")
	is.NoErr(err)
	is.Equal(units[0].PID, first)
	is.NoErr(kill(first)) // so that its removal has nothing to wait for
	is.NoErr(s.Remove(t.Context(), unitLabel))
	ended(t, first)
	_, err = os.Stat(unit.Socket)
	is.True(errors.Is(err, fs.ErrNotExist))

	unit.Program, unit.Args = "/bin/sleep", []string{"1000"} // it accepts nobody
	is.NoErr(s.Start(t.Context(), unit))
	conn, err = s.Attach(t.Context(), unitLabel)
	is.NoErr(err)
	defer conn.Close()
	units, err = s.List(t.Context(), "")
	is.NoErr(err)
	is.NoErr(kill(units[0].PID))
	_, err = conn.Read(make([]byte, 1)) // whose deadline is the test's own
	is.True(err != nil)

	is.NoErr(s.Remove(t.Context(), unitLabel))
	unit.Program = filepath.Join(folder, "none")
	is.True(s.Start(t.Context(), unit) != nil)
	_, err = os.Stat(unit.Socket)
	is.True(errors.Is(err, fs.ErrNotExist))
}

// A power cut has left a record without a text.
func TestAnEmptyRecordIsOfNoProcess(t *testing.T) {
	is := is.New(t)
	s, folder := bench(t)
	is.NoErr(os.MkdirAll(s.Store.Folder, 0o700))
	is.NoErr(os.WriteFile(filepath.Join(s.Store.Folder, unitLabel+".unit.json"), nil, 0o600))
	units, err := s.List(t.Context(), "")
	is.NoErr(err)
	is.Equal(len(units), 1)
	is.Equal(units[0].State, native.UnitEnded)
	is.True(errors.Is(s.Start(t.Context(), unitIn(folder)), native.ErrExists))
	is.NoErr(s.Remove(t.Context(), unitLabel))
	is.NoErr(s.Start(t.Context(), unitIn(folder)))
	conn, first, _ := talk(t, s)
	defer conn.Close()
	is.NoErr(kill(first)) // so that its removal has nothing to wait for
	is.NoErr(s.Remove(t.Context(), unitLabel))
	ended(t, first)
}

func TestWhatCannotStartLeavesNoRecord(t *testing.T) {
	is := is.New(t)
	s, folder := bench(t)
	unit := unitIn(folder)
	unit.Dir = "/nowhere"
	is.True(s.Start(t.Context(), unit) != nil)
	unit.Dir, unit.Program = "/", "relative"
	is.True(s.Start(t.Context(), unit) != nil)
	unit.Program = "/nowhere"
	is.True(errors.Is(s.Start(t.Context(), unit), fs.ErrNotExist))
	units, err := s.List(t.Context(), "")
	is.NoErr(err)
	is.Equal(len(units), 0)
}

func TestSystemdArguments(t *testing.T) {
	is := is.New(t)
	s := &systemd{user: true}
	got := s.startArgs(native.Unit{
		Label: unitLabel, Program: "/opt/fulmen/fulmend", Args: []string{"shim", "/a $b"}, Env: []string{"A=b c"}, Dir: "/",
		User: &native.Account{Name: "ada", UID: 501, GID: 20}, Socket: "/s", ErrorLog: "/log",
	})
	is.Equal(strings.Join(got, "\n"), `--user
--quiet
--collect
--unit=org.fulmen.rank.j4k2m9xq7.0.service
--service-type=exec
--property=KillMode=control-group
--property=Restart=no
--property=OOMPolicy=continue
--property=StandardInput=null
--property=StandardOutput=append:/log
--property=StandardError=append:/log
--working-directory=/
--uid=501
--gid=20
--setenv=A=b c
--
/opt/fulmen/fulmend
shim
/a $$b`)
}

func TestSystemd(t *testing.T) {
	is := is.New(t)
	s, folder := bench(t)
	if s.systemd = findSystemd(); s.systemd == nil {
		t.Skip("systemd does not run here")
	}
	is.NoErr(s.Start(t.Context(), unitIn(folder)))
	conn, first, child := talk(t, s)
	defer conn.Close()
	units, err := s.List(t.Context(), "org.fulmen.")
	is.NoErr(err)
	is.Equal(units[0].PID, first)
	is.NoErr(s.Remove(t.Context(), unitLabel))
	ended(t, first, child)
}
