package darwin

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/native"
)

var update = flag.Bool("update", false, "write the golden files")

func unit() native.Unit {
	return native.Unit{
		Label: "org.fulmen.rank.j4k2m9xq7.0", Program: "/Applications/Fulmen.app/Contents/MacOS/fulmend",
		Args: []string{"shim", "/Library/Application Support/Fulmen/jobs/j4k2m9xq7/1/0"}, Env: []string{"LANG=C", "ODD=<a & \"b\">"},
		Dir: "/", User: &native.Account{Name: "ada", UID: 501, GID: 20}, Socket: "/var/run/fulmen/s", ErrorLog: "/Library/Logs/Fulmen/shim.log",
	}
}

func TestLaunchdJobs(t *testing.T) {
	for name, system := range map[string]bool{"job-system.plist": true, "job-user.plist": false} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got, err := launchdJob(unit(), system)
			is.NoErr(err)
			path := filepath.Join("testdata", name)
			if *update {
				is.NoErr(os.MkdirAll("testdata", 0o755))
				is.NoErr(os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			is.NoErr(err)
			is.Equal(string(got), string(want))
			for d := xml.NewDecoder(strings.NewReader(string(got))); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// launchd is a small one: it knows jobs, and each has a process until it is killed.
type launchd struct {
	jobs   map[string]int // 0: its process has ended
	closed int            // so many questions after bootout it still knows the job
}

func (l *launchd) ctl(_ context.Context, args ...string) (string, error) {
	service := args[len(args)-1]
	if args[0] == "bootstrap" {
		service = args[1] + "/" + strings.TrimSuffix(filepath.Base(args[2]), ".plist")
		if _, err := os.Stat(args[2]); err != nil {
			return "", &launchdError{5, "Input/output error"}
		}
		if _, there := l.jobs[service]; there {
			return "", &launchdError{launchdAlready, "Operation already in progress"}
		}
		l.jobs[service] = 4711
		return "", nil
	}
	pid, there := l.jobs[service]
	if !there {
		return "", &launchdError{launchdNoService, "Could not find service"}
	}
	switch args[0] {
	case "print":
		if l.closed > 0 {
			if l.closed--; l.closed == 0 {
				delete(l.jobs, service)
			}
		}
		if pid == 0 {
			return service + " = {\n\tstate = not running\n\tendpoints = {\n\t\tpid = 9\n\t}\n}\n", nil
		}
		return service + " = {\n\tactive count = 1\n\tstate = running\n\n\tpid = 4711\n\timmediate reason = speculative\n}\n", nil
	case "kill":
		l.jobs[service] = 0
	case "bootout":
		l.closed = 3
	}
	return "", nil
}

func TestUnitsUnderLaunchd(t *testing.T) {
	is := is.New(t)
	folder, err := os.MkdirTemp("", "unit")
	is.NoErr(err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	daemon := &launchd{jobs: map[string]int{}}
	s := newSupervisor(Options{Units: filepath.Join(folder, "units")}, 501, "", daemon.ctl)
	u := unit()
	u.Socket, u.ErrorLog = filepath.Join(folder, "s"), filepath.Join(folder, "log")

	is.NoErr(s.Start(t.Context(), u))
	is.True(errors.Is(s.Start(t.Context(), u), native.ErrExists))
	want := native.UnitStatus{Label: u.Label, State: native.UnitRunning, PID: 4711, Socket: u.Socket}
	list := func() []native.UnitStatus {
		units, err := s.List(t.Context(), "org.fulmen.rank.")
		is.NoErr(err)
		return units
	}
	is.Equal(list(), []native.UnitStatus{want})
	_, err = s.Attach(t.Context(), u.Label)
	is.True(errors.Is(err, native.ErrNotFound)) // it does not listen yet
	listener, err := net.Listen("unix", u.Socket)
	is.NoErr(err)
	conn, err := s.Attach(t.Context(), u.Label)
	is.NoErr(err)
	is.NoErr(conn.Close())
	is.NoErr(listener.Close())

	daemon.jobs["user/501/"+u.Label] = 0
	want.State, want.PID = native.UnitEnded, 0
	is.Equal(list(), []native.UnitStatus{want})
	is.NoErr(s.Remove(t.Context(), u.Label))
	is.Equal(len(daemon.jobs), 0) // forgotten before Remove returned
	is.Equal(len(list()), 0)
	is.True(errors.Is(s.Remove(t.Context(), u.Label), native.ErrNotFound))
	left, err := os.ReadDir(filepath.Join(folder, "units"))
	is.NoErr(err)
	is.Equal(len(left), 0)
	is.NoErr(s.Start(t.Context(), u)) // the label is free again
}

func TestALabelThatLaunchdKnowsAlready(t *testing.T) {
	is := is.New(t)
	folder := t.TempDir()
	u := unit()
	u.ErrorLog = filepath.Join(folder, "log")
	daemon := &launchd{jobs: map[string]int{"user/501/" + u.Label: 1}}
	s := newSupervisor(Options{Units: folder}, 501, "", daemon.ctl)
	is.True(errors.Is(s.Start(t.Context(), u), native.ErrExists))
	units, err := s.List(t.Context(), "")
	is.NoErr(err)
	is.Equal(len(units), 0) // another daemon's
	u.User.UID = 502
	is.True(errors.Is(s.Start(t.Context(), u), native.ErrPermission))
}

func FuzzPrintedPID(f *testing.F) {
	f.Add("x = {\n\tpid = 7\n}\n")
	f.Add("\tpid = -1\n")
	f.Fuzz(func(t *testing.T, reported string) {
		if printedPID(reported) < 0 {
			t.Error("a negative process")
		}
	})
}
