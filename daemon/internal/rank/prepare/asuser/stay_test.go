package asuser_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
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
	"fulmen/native/nativetest"
)

// counted is a runner whose processes note their numbers as they start.
func counted(t *testing.T, ada account.Account) (r asuser.Runner, clock *nativetest.Clock, started func() []string) {
	t.Helper()
	folder := ranktest.Folder(t)
	own, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Skip("the test's own program cannot be copied")
	}
	defer own.Close()
	binary, err := os.OpenFile(filepath.Join(folder, "binary"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(binary, own); err != nil {
		t.Fatal(err)
	}
	if err := binary.Close(); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(folder, "fulmend")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $$ >>"+ada.Home+"/started\nexec "+folder+"/binary \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	clock = nativetest.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	r = asuser.Runner{Shim: script, OwnUID: uint32(os.Getuid()), Clock: clock, Stay: &asuser.Stay{}}
	t.Cleanup(func() { r.Stay.Close(clock) })
	return r, clock, func() []string {
		text, _ := os.ReadFile(ada.Home + "/started")
		return strings.Fields(string(text))
	}
}

// TestOneProcessAnswersSeveralTimes: it is started once, sees what has changed
// since, and is not left behind.
func TestOneProcessAnswersSeveralTimes(t *testing.T) {
	is := is.New(t)
	ada := ranktest.Account(t, "/bin/sh")
	r, clock, started := counted(t, ada)
	tool := filepath.Join(ada.Home, "tool")
	find := func() look.Answer {
		t.Helper()
		a, err := r.Ask(t.Context(), ada, look.Request{Op: look.OpFind, DeadlineS: 20, Command: []string{tool}}, nil)
		is.NoErr(err)
		return a
	}
	is.Equal(find().Problems[0].Reason, api.ReasonProgramMissing)
	ranktest.Write(t, ada, ada.Home, map[string]string{"tool": "#!/bin/sh\n"})
	is.Equal(find().Program, tool)
	is.Equal(len(started()), 1)

	// One that was killed while it waited is replaced.
	pid, err := strconv.Atoi(started()[0])
	is.NoErr(err)
	is.NoErr(syscall.Kill(pid, syscall.SIGKILL))
	is.Equal(find().Program, tool)
	is.Equal(len(started()), 2)

	// Another account has another one.
	eve := ada
	eve.Groups = append(eve.Groups, ada.GID)
	_, err = r.Ask(t.Context(), eve, look.Request{Op: look.OpFind, DeadlineS: 20, Command: []string{tool}}, nil)
	is.NoErr(err)
	is.Equal(len(started()), 3)

	// What nobody asks for a while ends.
	clock.Advance(3 * time.Minute)
	for _, pid := range started() {
		until(t, func() bool { return !alive(pid) })
	}
	is.Equal(find().Program, tool)
	is.Equal(len(started()), 4)
	r.Stay.Close(clock)
	until(t, func() bool { return !alive(started()[3]) })
	is.Equal(find().Program, tool) // and nothing is kept any more
	until(t, func() bool { return !alive(started()[4]) })
}

// TestWhatHasStartedOthersDoesNotStay: what an interpreter left running goes with
// the process that asked it.
func TestWhatHasStartedOthersDoesNotStay(t *testing.T) {
	is := is.New(t)
	ada := ranktest.Account(t, "/bin/sh")
	r, _, started := counted(t, ada)
	ranktest.Write(t, ada, ada.Home, map[string]string{"python3": "#!/bin/sh\nsleep 1000 >/dev/null 2>&1 & echo $! >" + ada.Home + "/left\nexit 1\n"})
	a, err := r.Ask(t.Context(), ada, look.Request{Op: look.OpFind, DeadlineS: 20, Env: []string{"PATH=/usr/bin:/bin"}, Command: []string{ada.Home + "/python3", "x.py"}}, nil)
	is.NoErr(err)
	is.True(a.Started)
	left, err := os.ReadFile(ada.Home + "/left")
	is.NoErr(err)
	until(t, func() bool { return !alive(strings.TrimSpace(string(left))) })
	until(t, func() bool { return !alive(started()[0]) })
}

// TestNobodyWaitsForOneThatStays: it is ended when its answer is not wanted any more.
func TestNobodyWaitsForOneThatStays(t *testing.T) {
	is := is.New(t)
	ada := ranktest.Account(t, "/bin/sh")
	r, _, started := counted(t, ada)
	ranktest.Write(t, ada, ada.Home, map[string]string{"python3": "#!/bin/sh\ntouch " + ada.Home + "/up\nwhile :; do sleep 1000; done\n"})
	ctx, cancel := context.WithCancelCause(t.Context())
	cut := errors.New("nobody waits")
	failed := make(chan error, 1)
	go func() {
		_, err := r.Ask(ctx, ada, look.Request{Op: look.OpFind, DeadlineS: 20, Env: []string{"PATH=/usr/bin:/bin"}, Command: []string{ada.Home + "/python3", "x.py"}}, nil)
		failed <- err
	}()
	until(t, func() bool { _, err := os.Stat(ada.Home + "/up"); return err == nil })
	cancel(cut)
	is.True(errors.Is(<-failed, cut))
	until(t, func() bool { return !alive(started()[0]) })
}
