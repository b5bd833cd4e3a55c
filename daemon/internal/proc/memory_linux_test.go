package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
)

// A worker that the kernel ends for lack of memory, in a control group made for
// it. The group is not this process's own, so it can only be probable.
func TestOutOfMemoryByTheKernel(t *testing.T) {
	is := is.New(t)
	dir := memoryLimit(t, 48<<20)
	r := run(t, fakeCommand(t, "memory", dir))
	is.Equal(r.Outcome, OutOfMemory)
	is.Equal(r.Signal, "SIGKILL")
	is.Equal(r.Sentence, "The worker was ended by SIGKILL, probably by the system for lack of memory, in: matmul.")
}

// A worker whose address space is limited is refused memory and says so as it
// ends, which is evidence and no proof.
func TestOutOfMemoryByALimit(t *testing.T) {
	is := is.New(t)
	r := run(t, fakeCommand(t, "memory", "limit"))
	is.Equal(r.Outcome, OutOfMemory)
	is.True(strings.Contains(r.Sentence, "probably for lack of memory, in: matmul; it said: "))
}

// memoryLimit makes a control group whose processes may use so much memory.
func memoryLimit(t *testing.T, bytes int) string {
	t.Helper()
	if native.CountMemoryKills().System < 0 {
		t.Skip("this kernel does not count the processes that it ended")
	}
	for _, try := range []struct{ root, limit, swap string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		dir, err := os.MkdirTemp(try.root, "fulmen-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		if os.WriteFile(filepath.Join(dir, try.limit), []byte(strconv.Itoa(bytes)), 0) != nil {
			continue
		}
		// Without swap where that can be limited; else it takes longer.
		if os.WriteFile(filepath.Join(dir, try.swap), []byte(strconv.Itoa(bytes)), 0) != nil {
			_ = os.WriteFile(filepath.Join(dir, try.swap), []byte("0"), 0)
		}
		return dir
	}
	t.Skip("no control group can be made here: it takes root and a writable hierarchy")
	return ""
}

// A process inside the system that no signal reaches, such as one that waits
// for a driver: nobody waits for it, and it is reaped when it comes back.
func TestStuckProcess(t *testing.T) {
	is := is.New(t)
	dir, err := os.MkdirTemp("/sys/fs/cgroup/freezer", "fulmen-test-")
	if err != nil {
		t.Skip("only a freezer of cgroup 1 keeps a process from SIGKILL: " + err.Error())
	}
	t.Cleanup(func() { os.Remove(dir) })
	state := func(s string) {
		if err := os.WriteFile(filepath.Join(dir, "freezer.state"), []byte(s), 0); err != nil {
			t.Error(err)
		}
	}
	c := fakeCommand(t, "mute", "")
	c.Silence, c.Grace = 300*time.Millisecond, 100*time.Millisecond
	leaks(t)
	pid := 0
	c.Started = func(p int) {
		pid = p
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(p)), 0); err != nil {
			t.Error(err)
		}
		state("FROZEN")
	}
	r := Run(t.Context(), systemClock(t), c)
	is.Equal(r.Outcome, Hung)
	is.True(r.Stuck && r.KilledAfterGrace)
	is.Equal(len(members(pid)), 1) // it is there still, or this tested nothing
	state("THAWED")
	soon(t, "it is gone and reaped", func() bool { return len(children()) == 0 })
}
