package shim_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shimproto"
)

func TestProgramsThatEnd(t *testing.T) {
	for _, test := range []struct {
		name, script string
		code         int
		signal       string
		out, err     string
	}{
		{"by a status", "exit 42", 42, "", "", ""},
		{"well", "echo good; echo bad >&2", 0, "", "good\n", "bad\n"},
		{"without a newline", "printf half", 0, "", "half", ""},
		{"by a signal", "kill -SEGV $$", -1, "SIGSEGV", "", ""},
		{"without input", "cat; echo over", 0, "", "over\n", ""},
		{"with default signals", "kill -INT $$; echo alive", -1, "SIGINT", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			h := hold(t, specOf(t, test.script))
			r := h.wait()
			if test.signal == "" {
				is.True(r.Code != nil)
				is.Equal(*r.Code, test.code)
			}
			is.Equal(r.Signal, test.signal)
			is.Equal(r.Cause, nil) // it ended by itself
			is.Equal(h.output("out.1"), test.out)
			is.Equal(h.output("err.1"), test.err)
			is.True(r.Usage != nil && r.Usage.MaxRSSBytes > 100<<10) // in bytes
			is.True(r.ElapsedS > 0)
			is.True(!r.EndedAt.Before(r.StartedAt.Time))
			is.Equal(r.Logs[0].WrittenBytes, int64(len(test.out)))
			is.Equal(r.Epoch, int64(3))
			left, err := os.ReadDir(h.spec.Folder)
			is.NoErr(err)
			names := []string{}
			for _, entry := range left {
				names = append(names, entry.Name())
			}
			want := []string{"exit.json", "spec.json"}
			for name, kept := range map[string]string{"out.1": test.out, "err.1": test.err} {
				if kept != "" { // nothing is kept of nothing
					want = append(want, name)
				}
			}
			slices.Sort(want)
			is.Equal(names, want)
		})
	}
}

func TestProgramsThatCannotStart(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	script := filepath.Join(t.TempDir(), "script")
	if os.WriteFile(plain, []byte("x"), 0o600) != nil || os.WriteFile(script, []byte("#!/nowhere/python\n"), 0o700) != nil {
		t.Fatal("cannot write")
	}
	for _, test := range []struct{ name, program, dir, reason string }{
		{"missing", "/nowhere/at/all", "/", "program_missing"},
		{"not executable", plain, "/", "program_not_executable"},
		{"no interpreter", script, "/", "interpreter_missing"},
		{"no directory", "/bin/sh", "/nowhere", "directory_missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			spec := specOf(t, "")
			spec.Program, spec.Dir = test.program, test.dir
			r := hold(t, spec).wait()
			is.True(r.NotStarted != nil)
			is.Equal(r.NotStarted.Reason, test.reason)
			is.True(r.NotStarted.Message != "")
			is.Equal(r.PID, 0)
		})
	}
}

func TestStopsInOrder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `trap 'echo bye; exit 7' TERM; echo $$; while :; do sleep 0.01; done`))
	d, greeting := h.attach(3)
	is.Equal(greeting.Ref, h.spec.Ref)
	h.pids(1)
	d.send(d.stopFor(3, 20))
	status := d.until(shimproto.PhaseEnding)
	is.Equal(status.Cause.Reason, "stopped_by_person")
	r := d.exit()
	is.Equal(*r.Code, 7)
	is.Equal(r.Cause.Reason, "stopped_by_person")
	is.True(!r.KilledAfterGrace)
	is.NoErr(d.conn.Close())
	is.True(strings.HasSuffix(h.output("out.1"), "bye\n"))
	is.Equal(h.wait().Signal, "")
}

func TestKillsWhatIgnoresTheSignal(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `trap '' TERM; sleep 1000 & echo $$ $!; while :; do sleep 0.01; done`))
	d, _ := h.attach(3)
	pids := h.pids(2)
	d.send(d.stopFor(3, 600))
	d.until(shimproto.PhaseEnding)
	d.send(d.stopFor(3, 900)) // cannot make it longer
	d.answer()
	d.send(shimproto.Stop{RequestHeader: d.header(3), GraceS: 0.2, Cause: shimproto.Cause{Reason: "second", Message: "second"}})
	r := d.exit()
	is.Equal(r.Signal, "SIGKILL")
	is.Equal(r.Cause.Reason, "stopped_by_person") // the first one's
	is.True(r.KilledAfterGrace)
	gone(t, pids...)
}

func TestLeavesNothingBehind(t *testing.T) {
	for _, test := range []struct{ name, script string }{
		{"in the group", `sleep 1000 & echo $!; echo $$; exit 5`},
		{"that left the group", `setsid sleep 1000 & echo $!; echo $$; exit 5`},
		{"that is an orphan of another session", `setsid sh -c 'trap "" TERM HUP; sleep 1000 & echo $!; sleep 1000 & echo $!' ; exit 5`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			h := hold(t, specOf(t, test.script))
			r := h.wait()
			is.Equal(*r.Code, 5)
			is.Equal(r.Cause, nil)
			gone(t, h.pids(2)...)
		})
	}
}

func TestTheGroupHasTheGraceToo(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	// The program ends at once, its child takes a moment longer to save its work.
	h := hold(t, specOf(t, `sh -c 'trap "sleep 0.3; echo saved; exit" TERM; echo $$; while :; do sleep 0.01; done' & wait`))
	d, _ := h.attach(3)
	h.pids(1)
	d.send(d.stopFor(3, 20))
	r := d.exit()
	is.Equal(r.Signal, "SIGTERM")
	is.True(!r.KilledAfterGrace)
	is.True(strings.Contains(h.output("out.1"), "saved"))
}

func TestAKilledShimTakesItsGroupAlong(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `trap '' TERM HUP; sleep 1000 & echo $!; echo $$; setsid sleep 1000 & echo $!; wait`))
	d, _ := h.attach(3)
	d.running(3)
	pids := h.pids(3)
	is.NoErr(h.cmd.Process.Signal(syscall.SIGKILL))
	<-h.ended
	gone(t, pids...)
	_, err := shimproto.ReadExit(h.spec.Folder)
	is.True(os.IsNotExist(err)) // nobody knows how it ended

	// And nobody runs it again.
	again := hold(t, h.spec)
	<-again.ended
	is.Equal(again.cmd.ProcessState.ExitCode(), 1)
}

func TestASystemThatEndsTheShimEndsTheRank(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `echo $$; exec sleep 1000`))
	d, _ := h.attach(3)
	d.running(3)
	is.NoErr(h.cmd.Process.Signal(syscall.SIGTERM))
	r := d.exit()
	is.Equal(r.Signal, "SIGTERM")
	is.Equal(r.Cause.Reason, "stopping")
}

func TestAShimThatIsKilledWhileItStartsLeavesNothing(t *testing.T) {
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("no process tells its environment here")
	}
	for i := range 20 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			h := hold(t, specOf(t, `sleep 1000 & sleep 1000 & wait`))
			conn := dial(t, h.spec.Socket) // the program starts at this moment
			is.NoErr(h.cmd.Process.Kill())
			<-h.ended
			is.NoErr(conn.Close())
			eventually(t, "the end of the rank", func() bool { return len(marked(t, h.spec.Folder)) == 0 })
		})
	}
}

// marked lists the processes that bear the mark of a rank's folder.
func marked(t *testing.T, folder string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if strings.Contains(string(text), "FULMEN_SHIM="+folder+"\x00") {
			found = append(found, file)
		}
	}
	return found
}
