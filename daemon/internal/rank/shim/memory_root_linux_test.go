package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shimproto"
)

// memoryGroup makes a control group with little memory and gives its folder.
func memoryGroup(t *testing.T) string {
	t.Helper()
	name := "fulmen-test-" + strconv.Itoa(os.Getpid())
	for _, version := range []struct{ mount, limit string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"},
	} {
		group := filepath.Join(version.mount, name)
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { eventually(t, "an empty group", func() bool { return os.Remove(group) == nil }) })
		if os.WriteFile(filepath.Join(group, version.limit), []byte("67108864"), 0) == nil {
			_ = os.WriteFile(filepath.Join(group, "memory.swap.max"), []byte("0"), 0) // where there is one
			return group
		}
	}
	t.Skip("no control group for memory can be made here")
	return ""
}

// TestWantOfMemoryIsTold: a program that the system killed for its use of memory
// is told from one that somebody killed.
func TestWantOfMemoryIsTold(t *testing.T) {
	needRoot(t)
	group := memoryGroup(t)
	for name, test := range map[string]struct {
		script      string
		outOfMemory bool
	}{
		"memory":   {"exec tail /dev/zero", true},
		"somebody": {"kill -9 $$", false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			spec := specOf(t, test.script)
			is.NoErr(shimproto.WriteSpec(spec.Folder, spec))
			shim := exec.Command("/bin/sh", "-c", `echo $$ >"$0/cgroup.procs" && exec "$@"`, group, os.Args[0], "shim", spec.Folder)
			text, err := shim.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			r, err := shimproto.ReadExit(spec.Folder)
			is.NoErr(err)
			is.Equal(r.Signal, "SIGKILL")
			is.Equal(r.OutOfMemory, test.outOfMemory)
		})
	}
}
