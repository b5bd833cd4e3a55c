package shim_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shimproto"
)

// A program that a signal stops, and a guard, are told of at once, and that they go on.
// A guard that was killed is replaced, and one that is stopped keeps no shim from its end.
func TestWhatIsStoppedIsTold(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `echo $$; sleep 1000`))
	d, _ := h.attach(3)
	program := d.running(3).PID
	reported := func(is func(shimproto.Status) bool) {
		t.Helper()
		for {
			if s, ok := d.receive().(shimproto.Status); ok && is(s) {
				return
			}
		}
	}
	is.NoErr(syscall.Kill(program, syscall.SIGSTOP))
	reported(func(s shimproto.Status) bool { return s.Stopped == "SIGSTOP" && s.GuardStopped == "" })
	is.NoErr(syscall.Kill(program, syscall.SIGCONT))
	reported(func(s shimproto.Status) bool { return s.Stopped == "" })

	first := h.guard(program)
	is.NoErr(syscall.Kill(first, syscall.SIGKILL))
	eventually(t, "another guard", func() bool { now := h.guard(program); return now != 0 && now != first })
	is.NoErr(syscall.Kill(h.guard(program), syscall.SIGSTOP))
	reported(func(s shimproto.Status) bool { return s.GuardStopped == "SIGSTOP" })
	d.send(d.stopFor(3, 0))
	is.Equal(d.exit().Signal, "SIGKILL")
	is.True(d.conn.Close() == nil)
	h.wait()
}

// guard is the shim's child that runs the guard's shell; 0 while there is none. One
// stopped before it is that shell would hold the shim too, which waits for the exec.
func (h *held) guard(program int) int {
	var text []byte
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", h.cmd.Process.Pid))
	for _, thread := range threads {
		more, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", h.cmd.Process.Pid, thread.Name()))
		text = slices.Concat(text, more)
	}
	for word := range strings.FieldsSeq(string(text)) {
		name, _ := os.ReadFile("/proc/" + word + "/comm")
		if pid, err := strconv.Atoi(word); err == nil && pid != program && string(name) == "sh\n" {
			return pid
		}
	}
	return 0
}
