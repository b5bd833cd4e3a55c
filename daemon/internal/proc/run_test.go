package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api/worker"
	"fulmen/native"
)

func systemClock(t *testing.T) native.Clock {
	t.Helper()
	clock, err := native.SystemClock()
	if err != nil {
		t.Skip(err)
	}
	return clock
}

// fakeCommand is a run of the fake worker. Silence and deadline are long enough
// for a busy machine; tests of them shorten one.
func fakeCommand(t *testing.T, mode, arg string) Command {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{
		Path:     program, // Or the race detector makes every fake wait for a second as it ends.
		Env:      []string{asFake + "=" + mode, asFake + "_ARG=" + arg, "GORACE=atexit_sleep_ms=0"},
		Deadline: time.Minute, Silence: 30 * time.Second, Grace: 10 * time.Second,
	}
}

// run runs it, and checks what holds for every record.
func run(t *testing.T, c Command) Record {
	t.Helper()
	return runUntil(t, context.Background(), c)
}

func runUntil(t *testing.T, ctx context.Context, c Command) Record {
	t.Helper()
	leaks(t)
	is := is.New(t)
	began := time.Now()
	r := Run(ctx, systemClock(t), c)
	took := time.Since(began)
	is.True(took < c.withDefaults().Deadline+c.withDefaults().Grace+6*time.Second)                // returns in time
	is.True(slices.Contains(outcomes(), r.Outcome))                                               // an outcome that is known
	is.Equal(strings.Count(r.Sentence, "\n"), 0)                                                  // one line
	is.True(strings.HasPrefix(r.Sentence, "The worker ") && r.Sentence[len(r.Sentence)-1] == '.') // a sentence
	if r.PID != 0 {
		soon(t, "nobody of the worker's group lives", func() bool { return len(members(r.PID)) == 0 })
	}
	return r
}

func TestOutcomes(t *testing.T) {
	tests := []struct {
		name, mode, arg string
		change          func(*Command)
		outcome         Outcome
		signal          string
		code            int
		sentence        string // a part of it
	}{
		{"result", "good", "", nil, OK, "", 0, "gave its result"},
		{"result, then a bad end", "status after result", "", nil, OK, "", 3, "gave its result"},
		{"its own error", "refuses", "", nil, Failed, "", 1, "failed, in: matmul; it said: MLX finds no gpu."},
		{"fault", "signal", "SEGV", nil, Crashed, "SIGSEGV", -1, "crashed with SIGSEGV, in: matmul."},
		{"bus error", "signal", "BUS", nil, Crashed, "SIGBUS", -1, "crashed with SIGBUS"},
		{"abort", "signal", "ABRT", nil, Aborted, "SIGABRT", -1, "aborted, in: matmul."},
		{"abort with words", "script", "echo \"  what():  [metal] no buffer\" >&2; kill -ABRT $$", nil, Aborted, "SIGABRT", -1, "it said: what(): [metal] no buffer."},
		{"fault inside C++", "fault", "SIGSEGV", nil, Crashed, "", 2, "crashed with SIGSEGV, in: matmul"},
		{"abort inside C++", "fault", "SIGABRT", nil, Aborted, "", 2, "aborted, in: matmul"},
		{"fault inside C++, for a core file", "script", "printf 'SIGSEGV: segmentation violation\\nPC=0x1\\n' >&2; kill -QUIT $$", nil, Crashed, "SIGQUIT", -1, "crashed with SIGSEGV, in: matmul"},
		{"panic, for a core file", "script", "printf 'panic: lost\\n\\ngoroutine 1:\\n' >&2; kill -ABRT $$", nil, Crashed, "SIGABRT", -1, "crashed, in: matmul; it said: panic: lost."},
		{"somebody's SIGQUIT", "script", "printf 'SIGQUIT: quit\\nPC=0x1\\n' >&2; kill -QUIT $$", nil, Killed, "SIGQUIT", -1, "was ended from outside by SIGQUIT, in: matmul."},
		{"panic", "panic", "", nil, Crashed, "", 2, "ended with exit code 2 and did not say why, in: matmul; it said: panic: the device is lost"},
		{"kill -9", "signal", "KILL", nil, Killed, "SIGKILL", -1, "was ended from outside by SIGKILL, in: matmul."},
		{"somebody's SIGTERM", "signal", "TERM", nil, Killed, "SIGTERM", -1, "was ended from outside by SIGTERM"},
		{"status alone", "script", "echo broken >&2; exit 7", nil, Crashed, "", 7, "ended with exit code 7 and did not say why, in: matmul; it said: broken."},
		{"nothing at all", "nothing", "", nil, NoResult, "", 0, "ended without a result, in: matmul."},
		{"a missing library", "script", "echo 'w: error while loading shared libraries: libmlx.so: no such file' >&2; exit 127", nil, Crashed, "", 127, "libmlx.so"},
		{"never talks", "mute", "", silent, Hung, "SIGTERM", -1, "said nothing for 300ms and was ended."},
		{"stopped", "stop", "", stopped, Hung, "SIGTERM", -1, "said nothing for 5s and was ended, in: matmul."},
		{"closes its messages", "closes", "", silent, Hung, "SIGTERM", -1, "said nothing"},
		{"past its deadline", "obeys", "", hasty, TooLong, "", 1, "was not done after 3s and was ended, in: waiting."},
		{"ignores SIGTERM", "ignores", "", stubborn, TooLong, "SIGKILL", -1, "was not done after 3s and was ended, in: ignoring."},
		{"does not go after its result", "lingers", "", stubborn, OK, "SIGKILL", -1, "gave its result"},
		{"garbage", "garbage", "", nil, Garbled, "SIGTERM", -1, "wrote something that is not a message and was ended, in: matmul; it said: line 2: no worker message"},
		{"a line without end", "giant line", "", nil, Garbled, "SIGTERM", -1, "longer than 1048576 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			c := fakeCommand(t, tt.mode, tt.arg)
			if tt.change != nil {
				tt.change(&c)
			}
			r := run(t, c)
			is.Equal(r.Outcome, tt.outcome)
			is.Equal(r.Signal, tt.signal)
			is.Equal(r.ExitCode, tt.code)
			if !strings.Contains(r.Sentence, tt.sentence) {
				t.Errorf("sentence is %q, lacks %q", r.Sentence, tt.sentence)
			}
			is.True(!strings.Contains(r.Sentence, "probably"))
			is.Equal(r.KilledAfterGrace, tt.mode == "ignores" || tt.mode == "lingers")
			is.Equal(r.Word != nil, tt.outcome == OK || tt.outcome == Failed || tt.mode == "obeys")
			is.True(!r.Stuck && !r.PipesHeld)
			is.True(r.MaxRSSBytes > 1<<20 && r.PID > 1)
		})
	}
}

func silent(c *Command) { c.Silence = 300 * time.Millisecond }
func hasty(c *Command)  { c.Deadline = 3 * time.Second }

// stopped leaves time for the start of a program, which speaks first.
func stopped(c *Command) { c.Silence = 5 * time.Second }
func stubborn(c *Command) {
	hasty(c)
	c.Grace = 100 * time.Millisecond
}

func TestRecordOfAResult(t *testing.T) {
	is := is.New(t)
	c := fakeCommand(t, "good", "")
	var got []worker.Progress
	pid := 0
	c.Progress = func(p worker.Progress) { got = append(got, p) }
	c.Started = func(p int) { pid = p }
	r := run(t, c)
	var value struct{ OK bool }
	is.NoErr(r.Word.Decode(&value))
	is.True(value.OK)
	is.Equal(pid, r.PID)
	is.Equal(r.Logs, []worker.Log{{Level: worker.LevelWarn, Text: "slow [31mBLAS"}}) // nothing steers a terminal
	is.Equal(got[len(got)-1].Stage, "sum")                                           // the last one always arrives
}

func TestEnvironmentIsChosen(t *testing.T) {
	is := is.New(t)
	t.Setenv("FULMEN_SECRET", "x")
	c := fakeCommand(t, "environment", "")
	is.Equal(run(t, c).Stdout, strings.Join(c.Env, "\n")) // nothing is inherited

	all := []string{"HOME=/x", "MLX_A=1", "MLX_AB=2", "PATH=/bin", "broken", "MLX_C="}
	is.Equal(Environment(all, "PATH", "MLX_C", "MLX_A", "NONE", "broken"), []string{"PATH=/bin", "MLX_C=", "MLX_A=1"})
}

// A receiver that takes its time delays neither the worker nor the reading.
func TestProgressDoesNotBlock(t *testing.T) {
	is := is.New(t)
	listener, written := listen(t)
	c := fakeCommand(t, "chatter", listener)
	calls, last := 0, worker.Progress{}
	c.Progress = func(p worker.Progress) {
		<-written // every message of the worker was read although the first call has not returned
		calls++
		last = p
	}
	r := run(t, c)
	is.Equal(r.Outcome, OK)
	is.Equal(last.Stage, "last")
	is.True(calls < messages/2) // what nobody took was replaced
}

func TestFlood(t *testing.T) {
	is := is.New(t)
	c := fakeCommand(t, "flood", "")
	c.Deadline, c.Silence = 5*time.Minute, 5*time.Minute // a gigabyte takes a busy machine long, and no message comes meanwhile
	r := run(t, c)
	is.Equal(r.Outcome, OK)
	is.True(strings.HasPrefix(r.Stderr, "all work"))
	is.True(strings.HasSuffix(r.Stderr, "the end of it\n"))
	var dropped int64
	_, err := fmt.Sscanf(r.Stderr[headBytes:len(r.Stderr)-tailBytes], "\n[%d bytes left out]\n", &dropped)
	is.NoErr(err)
	is.True(dropped > 1<<29)
}

func TestGrandchild(t *testing.T) {
	is := is.New(t)
	r := run(t, fakeCommand(t, "grandchild", ""))
	is.Equal(r.Outcome, OK)
	is.True(!r.PipesHeld) // it was in the group, and went with it

	r = run(t, fakeCommand(t, "grandchild", "detached"))
	is.Equal(r.Outcome, OK)
	is.True(r.PipesHeld) // it left the group: it is reported, and nobody waits for it
	soon(t, "the grandchild's end", endOf(t, strings.TrimSpace(r.Stdout)))
}

// kill -9 of the daemon leaves no worker: its input ends.
func TestDaemonKilled(t *testing.T) {
	is := is.New(t)
	leaks(t)
	program, err := os.Executable()
	is.NoErr(err)
	daemon := exec.Command(program)
	daemon.Env = []string{asFake + "=daemon"}
	out, err := daemon.StdoutPipe()
	is.NoErr(err)
	is.NoErr(daemon.Start())
	var pid int
	_, err = fmt.Fscan(out, &pid)
	is.NoErr(err)
	is.NoErr(syscall.Kill(pid, 0)) // it lives
	is.NoErr(daemon.Process.Kill())
	_ = daemon.Wait()
	soon(t, "the worker's end", func() bool { return len(members(pid)) == 0 })
}

func TestCancel(t *testing.T) {
	is := is.New(t)
	ctx, cancel := context.WithCancel(context.Background())
	c := fakeCommand(t, "obeys", "")
	var once sync.Once
	c.Progress = func(p worker.Progress) {
		if p.Stage == "waiting" {
			once.Do(cancel)
		}
	}
	r := runUntil(t, ctx, c)
	is.Equal(r.Outcome, Cancelled)
	is.Equal(r.Sentence, "The worker was ended on request, in: waiting.")
	is.Equal(r.Word.Error.Reason, worker.ReasonCancelled) // it had the time to say so

	r = runUntil(t, ctx, c)
	is.Equal(r.Outcome, Cancelled)
	is.Equal(r.PID, 0) // not even started
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		if err := os.WriteFile(dir+"/"+name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return dir + "/" + name
	}
	tests := []struct {
		name     string
		command  Command
		sentence string
		cause    error
	}{
		{"missing", Command{Path: dir + "/gone"}, dir + "/gone is missing.", os.ErrNotExist},
		{"not executable", Command{Path: write("plain", "", 0o644)}, dir + "/plain may not be executed.", os.ErrPermission},
		{"a folder", Command{Path: dir}, dir + " may not be executed.", os.ErrPermission},
		{"no program", Command{Path: write("text", "hello", 0o755)}, dir + "/text is not a program for this machine.", syscall.ENOEXEC},
		{"its loader is missing", Command{Path: write("script", "#!/gone/sh\n", 0o755)}, "the program that must load " + dir + "/script is missing.", os.ErrNotExist},
		{"its folder is missing", Command{Path: "/bin/sh", Dir: dir + "/none"}, "the folder " + dir + "/none is missing.", os.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			r := run(t, tt.command)
			is.Equal(r.Outcome, NotStarted)
			is.Equal(r.Sentence, "The worker could not be started: "+tt.sentence)
			is.Equal(r.ExitCode, -1)
			is.True(errors.Is(r.StartErr, tt.cause))
		})
	}
}

// outcomes lists every outcome.
func outcomes() []Outcome {
	return []Outcome{OK, Failed, Crashed, Aborted, OutOfMemory, Killed, Hung, TooLong, Cancelled, Garbled, NoResult, NotStarted}
}
