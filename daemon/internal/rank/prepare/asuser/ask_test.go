package asuser_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rank/prepare/account"
	"fulmen/daemon/internal/rank/prepare/asuser"
	"fulmen/daemon/internal/rank/prepare/look"
	"fulmen/daemon/internal/rank/ranktest"
	"fulmen/native"
	"fulmen/native/nativetest"
)

func TestMain(m *testing.M) { ranktest.Main(m) }

func runner(t *testing.T) asuser.Runner {
	t.Helper()
	clock, err := native.SystemClock()
	if err != nil {
		t.Fatal(err)
	}
	return asuser.Runner{Shim: ranktest.Self(t), OwnUID: uint32(os.Getuid()), Clock: clock}
}

// TestPathsAreTouchedAsTheAccount is the reason for all of this: what only root
// can read is not found, and what only the account can read is.
func TestPathsAreTouchedAsTheAccount(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	r := runner(t)
	ada := ranktest.Account(t, "/bin/sh")
	secret, err := os.MkdirTemp("", "root") // 0700, root's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(secret) })
	own := ranktest.Folder(t)
	ranktest.Write(t, ada, own, map[string]string{"tool": "#!/bin/sh\n", "train.py": ""})
	for _, path := range []string{filepath.Join(own, "train.py"), own} {
		if err := os.Chmod(path, 0o700); err != nil { // ada's
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(secret, "tool"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	find := func(is *is.I, a account.Account, dir, program string) look.Answer {
		is.Helper()
		answer, err := r.Ask(t.Context(), a, look.Request{Op: look.OpFind, DeadlineS: 20, Directory: dir, Command: []string{program}}, nil)
		is.NoErr(err)
		return answer
	}
	t.Run("its own", func(t *testing.T) {
		is := is.New(t)
		a := find(is, ada, own, "./tool")
		is.Equal(len(a.Problems), 0)
		is.Equal(a.Program, filepath.Join(own, "tool"))
	})
	t.Run("root's", func(t *testing.T) {
		is := is.New(t)
		a := find(is, ada, secret, "/bin/sh")
		is.Equal(a.Problems[0].Reason, api.ReasonPermissionDenied)
		is.Equal(a.Problems[0].Message, "The folder "+secret+" cannot be read by ada: permission denied.")
		is.Equal(len(a.Problems), 1)
		a = find(is, ada, own, filepath.Join(secret, "tool"))
		is.Equal(a.Problems[0].Reason, api.ReasonProgramNotExecutable)
		is.Equal(a.Program, "")
	})
	t.Run("another's", func(t *testing.T) {
		is := is.New(t)
		eve := ada
		eve.Name, eve.UID, eve.GID, eve.Groups = "eve", ada.UID+1, ada.GID+1, []uint32{ada.GID + 1}
		is.Equal(find(is, eve, own, "/bin/sh").Problems[0].Reason, api.ReasonPermissionDenied)
		if err := os.Chmod(own, 0o750); err != nil {
			t.Fatal(err)
		}
		eve.Groups = append(eve.Groups, ada.GID) // supplementary groups count
		is.Equal(len(find(is, eve, own, "/bin/sh").Problems), 0)
	})
	t.Run("root itself", func(t *testing.T) {
		is := is.New(t)
		_, err := r.Ask(t.Context(), account.Account{Name: "root", Home: "/root", Shell: "/bin/sh"},
			look.Request{Op: look.OpFind, DeadlineS: 20, Command: []string{"/bin/sh"}}, nil)
		is.Equal(api.AsError(err).Data.Reason, api.ReasonAccountForbidden)
	})
	t.Run("its numbers", func(t *testing.T) {
		is := is.New(t)
		var reported strings.Builder
		a, err := r.Ask(t.Context(), ada, look.Request{Op: look.OpPrepare, DeadlineS: 20, Env: []string{"PATH=/usr/bin:/bin"}, Prepare: []string{"id -u; id -G"}}, &reported)
		is.NoErr(err)
		is.Equal(*a.Status, 0)
		is.Equal(reported.String(), "54321\n54321\n") // none of root's groups
	})
}

// A program that hangs is gone with its children when the time is over, and so is
// one that nobody waits for any more.
func TestWhatHangsIsKilled(t *testing.T) {
	r := runner(t)
	ada := ranktest.Account(t, "/bin/sh")
	hang := "#!/bin/sh\nsleep 1000 & echo $! >>" + ada.Home + "/pids; echo $$ >>" + ada.Home + "/pids; touch " + ada.Home + "/up; wait\n"
	ranktest.Write(t, ada, ada.Home, map[string]string{"python3": hang})
	request := look.Request{Op: look.OpFind, DeadlineS: 3600, Env: []string{"PATH=/usr/bin:/bin"}, Command: []string{ada.Home + "/python3", "-m", "x"}}
	clock := nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	slow := r
	slow.Clock = clock
	cut := errors.New("nobody waits")
	for name, end := range map[string]func(context.CancelCauseFunc){
		"deadline":  func(context.CancelCauseFunc) { clock.Advance(time.Hour) },
		"cancelled": func(cancel context.CancelCauseFunc) { cancel(cut) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_ = os.Remove(ada.Home + "/up")
			ctx, cancel := context.WithCancelCause(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := slow.Ask(ctx, ada, request, nil)
				failed <- err
			}()
			until(t, func() bool { _, err := os.Stat(ada.Home + "/up"); return err == nil })
			end(cancel)
			err := <-failed
			is.True(errors.Is(err, cut) || errors.Is(err, context.DeadlineExceeded))
			text, err := os.ReadFile(ada.Home + "/pids")
			is.NoErr(err)
			pids := strings.Fields(string(text))
			is.True(len(pids) >= 2)
			until(t, func() bool { return !slices.ContainsFunc(pids, alive) })
		})
	}
}

// A login shell that hangs is given up in time to say so, and is gone with its children.
func TestAShellThatHangs(t *testing.T) {
	is := is.New(t)
	r := runner(t)
	// The time that the process itself has counts, also where it takes long to start.
	r.Clock = nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	ada := ranktest.Account(t, ranktest.Shell(t, "bash"))
	ranktest.Write(t, ada, ada.Home, map[string]string{
		".bash_profile": "sleep 1000 & echo $! >$HOME/pids; echo $$ >>$HOME/pids; echo asking >&2; while :; do sleep 1000; done\n",
	})
	_, err := r.Ask(t.Context(), ada, look.Request{
		Op: look.OpEnvironment, DeadlineS: 5, Env: []string{"HOME=" + ada.Home, "PATH=/usr/bin:/bin"},
	}, nil)
	is.True(strings.HasSuffix(err.Error(), "the login shell "+ada.Shell+" was not done after 4.5s (asking)"))
	text, err := os.ReadFile(ada.Home + "/pids")
	is.NoErr(err)
	pids := strings.Fields(string(text))
	is.Equal(len(pids), 2)
	until(t, func() bool { return !slices.ContainsFunc(pids, alive) })
}

// The command that prepares gets a moment to clean up, and no longer.
func TestAPreparationEndsPolitely(t *testing.T) {
	is := is.New(t)
	r := runner(t)
	ada := ranktest.Account(t, "/bin/sh")
	ctx, cancel := context.WithCancel(t.Context())
	reported := &watched{text: "ready", seen: cancel}
	_, err := r.Ask(ctx, ada, look.Request{
		Op: look.OpPrepare, DeadlineS: 3600, Env: []string{"PATH=/usr/bin:/bin"},
		Prepare: []string{`trap 'echo cleaned; exit 3' TERM; echo ready; while :; do sleep 1000 & wait $!; done`},
	}, reported)
	is.True(errors.Is(err, context.Canceled))
	is.True(strings.HasSuffix(reported.String(), "\ncleaned\n")) // some shells tell of the sleep that was ended
}

// What a command leaves running is ended, and does not hold up its answer.
func TestNothingIsLeftRunning(t *testing.T) {
	is := is.New(t)
	r := runner(t)
	ada := ranktest.Account(t, "/bin/sh")
	var reported strings.Builder
	a, err := r.Ask(t.Context(), ada, look.Request{
		Op: look.OpPrepare, DeadlineS: 20, Env: []string{"PATH=/usr/bin:/bin", "A=b c"},
		Prepare: []string{"sh", "-c", `sleep 1000 & echo $! "$A" "$1"; kill -9 $$`, "x", "two words"},
	}, &reported)
	is.NoErr(err)
	is.Equal(*a.Status, 128+9)
	pid, rest, _ := strings.Cut(strings.TrimSpace(reported.String()), " ")
	is.Equal(rest, "b c two words")
	until(t, func() bool { return !alive(pid) })
}

func TestAWrongProgram(t *testing.T) {
	is := is.New(t)
	r := runner(t)
	ada := ranktest.Account(t, "/bin/sh")
	ranktest.Write(t, ada, ada.Home, map[string]string{"fulmend": "#!/bin/sh\necho of another kind >&2\nexit 4\n", "liar": "#!/bin/sh\necho '{\"problems\":7}'\n"})
	request := look.Request{Op: look.OpFind, DeadlineS: 20, Command: []string{"x"}}
	r.Shim = ada.Home + "/fulmend"
	_, err := r.Ask(t.Context(), ada, request, nil)
	is.True(strings.Contains(err.Error(), "exit status 4: of another kind"))
	r.Shim = ada.Home + "/liar"
	_, err = r.Ask(t.Context(), ada, request, nil)
	is.True(strings.HasPrefix(err.Error(), "the answer: "))
	r.Shim = ada.Home + "/none"
	_, err = r.Ask(t.Context(), ada, request, nil)
	is.True(errors.Is(err, syscall.ENOENT))
}

// A daemon that is killed leaves nothing behind: its end of the input is the sign.
func TestTheEndOfTheDaemonIsTheEnd(t *testing.T) {
	is := is.New(t)
	ada := ranktest.Account(t, "/bin/sh")
	command := exec.Command(ranktest.Self(t), "look")
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := command.StdinPipe()
	is.NoErr(err)
	out, err := command.StderrPipe()
	is.NoErr(err)
	is.NoErr(command.Start())
	_, err = in.Write([]byte(`{"op":"prepare","deadline_s":100,"account":"a","shell":"/bin/sh","home":"` + ada.Home +
		`","env":["PATH=/usr/bin:/bin"],"prepare":["trap '' TERM; echo $$; exec sleep 1000"]}` + "\n"))
	is.NoErr(err)
	line := make([]byte, 32)
	n, err := out.Read(line)
	is.NoErr(err)
	is.NoErr(in.Close())
	pid := strings.TrimSpace(string(line[:n]))
	until(t, func() bool { return !alive(pid) })
	is.True(command.Wait() != nil)
}

// alive reports whether a process runs; one that nobody has reaped does not.
func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	if err != nil || syscall.Kill(n, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// until waits for what nothing announces: the end of somebody else's child.
func until(t *testing.T, done func() bool) {
	t.Helper()
	late := time.After(2 * time.Minute)
	for !done() {
		select {
		case <-late:
			t.Fatal("it does not happen")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// watched calls seen once a text was written.
type watched struct {
	strings.Builder
	text string
	seen func()
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Builder.Write(p)
	if strings.Contains(w.String(), w.text) {
		w.seen()
	}
	return n, err
}
