package shim_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/daemon/internal/rank/shimproto"
)

// timeout is how long a test waits for what must come.
const timeout = 2 * time.Minute

func TestMain(m *testing.M) { ranktest.Main(m) }

// held is a rank under a shim that runs as a process of its own.
type held struct {
	t      *testing.T
	spec   shimproto.Spec
	cmd    *exec.Cmd
	ended  chan struct{}
	report *os.File
}

// specOf is a spec for a shell script.
func specOf(t testing.TB, script string) shimproto.Spec {
	t.Helper()
	spec := ranktest.Spec(t, script)
	spec.LeaseS, spec.GraceS = 60, 10
	return spec
}

// hold starts a shim.
func hold(t *testing.T, spec shimproto.Spec) *held {
	t.Helper()
	if err := shimproto.WriteSpec(spec.Folder, spec); err != nil {
		t.Fatal(err)
	}
	report, err := os.Create(filepath.Join(t.TempDir(), "shim.log"))
	if err != nil {
		t.Fatal(err)
	}
	h := &held{t: t, spec: spec, ended: make(chan struct{}), report: report, cmd: exec.Command(os.Args[0], "shim", spec.Folder)}
	h.cmd.Stderr = report
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = h.cmd.Wait()
		close(h.ended)
	}()
	t.Cleanup(func() {
		_ = h.cmd.Process.Kill()
		<-h.ended
		text, _ := os.ReadFile(report.Name())
		if t.Failed() {
			t.Logf("the shim says: %s", text)
		}
	})
	return h
}

// wait waits for the shim's own end and returns its record.
func (h *held) wait() shimproto.ExitRecord {
	h.t.Helper()
	select {
	case <-h.ended:
	case <-time.After(timeout):
		h.t.Fatal("the shim does not end")
	}
	r, err := shimproto.ReadExit(h.spec.Folder)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

// output is what is kept of a stream.
func (h *held) output(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.spec.Folder, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.t.Fatal(err)
	}
	return string(text)
}

// pids waits until the program has printed so many numbers of processes.
func (h *held) pids(n int) []int {
	h.t.Helper()
	var pids []int
	eventually(h.t, "the program's processes", func() bool {
		pids = nil
		for _, word := range strings.Fields(h.output("out.1")) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
		return len(pids) >= n
	})
	return pids
}

// daemon is a daemon's connection to a shim.
type daemon struct {
	t    *testing.T
	conn *shimproto.DaemonConn
	spec shimproto.Spec
	id   uint64
}

// dial connects as soon as the shim listens.
func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	var conn net.Conn
	eventually(t, "the shim's socket", func() (ok bool) {
		var err error
		conn, err = net.Dial("unix", path)
		return err == nil
	})
	t.Cleanup(func() { conn.Close() })
	return conn
}

// attach says hello and returns the greeting.
func (h *held) attach(epoch int64) (*daemon, shimproto.Greeting) {
	h.t.Helper()
	d := &daemon{t: h.t, conn: shimproto.NewDaemonConn(dial(h.t, h.spec.Socket)), spec: h.spec}
	d.send(shimproto.Hello{RequestHeader: d.header(epoch), Ref: h.spec.Ref, Versions: shimproto.OwnVersions(), PID: os.Getpid()})
	greeting, ok := d.receive().(shimproto.Greeting)
	if !ok {
		h.t.Fatal("no greeting")
	}
	return d, greeting
}

func (d *daemon) header(epoch int64) shimproto.RequestHeader {
	d.id++
	return shimproto.RequestHeader{ID: d.id, Epoch: epoch}
}

func (d *daemon) send(r shimproto.Request) {
	d.t.Helper()
	if err := d.conn.Send(r, timeout); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) receive() shimproto.Reply {
	d.t.Helper()
	r, err := d.conn.Receive(timeout)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// answer returns the answer to the last request, and passes over what was not
// asked for.
func (d *daemon) answer() shimproto.Reply {
	d.t.Helper()
	for {
		switch r := d.receive().(type) {
		case shimproto.Status:
			if r.Re == d.id {
				return r
			}
		case shimproto.Refusal:
			return r
		}
	}
}

// until reads until a status has the phase.
func (d *daemon) until(phase shimproto.Phase) shimproto.Status {
	d.t.Helper()
	for {
		if r, ok := d.receive().(shimproto.Status); ok && r.Phase == phase {
			return r
		}
	}
}

// running waits until the program runs.
func (d *daemon) running(epoch int64) shimproto.Status {
	d.t.Helper()
	d.send(shimproto.Query{RequestHeader: d.header(epoch)})
	return d.until(shimproto.PhaseRunning)
}

// exit reads until the record comes.
func (d *daemon) exit() shimproto.ExitRecord {
	d.t.Helper()
	for {
		if r, ok := d.receive().(shimproto.Exit); ok {
			return r.Record
		}
	}
}

// stopFor is a stop for a person's request.
func (d *daemon) stopFor(epoch int64, grace float64) shimproto.Stop {
	return shimproto.Stop{RequestHeader: d.header(epoch), GraceS: grace, Cause: shimproto.Cause{Reason: "stopped_by_person", Message: "a person asked for it"}}
}

// eventually waits for something that nothing announces to a test.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	end := time.After(timeout)
	for !is() {
		select {
		case <-end:
			t.Fatalf("still waiting for %s", what)
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// gone waits until none of the processes is there; a zombie is not there.
func gone(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("the end of %d", pid), func() bool {
			if syscall.Kill(pid, 0) == syscall.ESRCH {
				return true
			}
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			return err == nil && strings.Contains(string(stat), ") Z ")
		})
	}
}
