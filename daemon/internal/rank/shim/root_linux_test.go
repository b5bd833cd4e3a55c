package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"fulmen/daemon/internal/rank/shimproto"
)

// nobody is an account without rights; its numbers are those of every Linux.
var nobody = shimproto.User{Name: "nobody", UID: 65534, GID: 65534, Groups: []uint32{65534, 12345}}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else or mount a file system")
	}
}

func TestTheProgramHasTheRightsOfItsAccountAlone(t *testing.T) {
	needRoot(t)
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, `grep -E '^(Uid|Gid|Groups|Cap(Inh|Prm|Eff|Amb)):' /proc/self/status; echo x >/dev/stdout; cat "$1/spec.json"`)
	spec.User = &nobody
	h := hold(t, spec)
	r := h.wait()
	is.Equal(*r.Code, 1) // the spec is not for its eyes
	want := "Uid:\t65534\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\nGroups:\t12345 65534 \n" +
		"CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000\nx\n"
	is.Equal(h.output("out.1"), want)
	is.True(strings.Contains(h.output("err.1"), "Permission denied"))
}

// A probe is a command of the account's too, and not of the shim's.
func TestAProbeHasTheRightsOfTheAccountAlone(t *testing.T) {
	needRoot(t)
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, "sleep 1000")
	spec.User = &nobody
	d, _ := hold(t, spec).attach(3)
	d.running(3)
	d.probe("grep -E '^(Uid|Groups|CapEff):' /proc/self/status; echo x >/dev/stdout; cat '"+spec.Folder+"/spec.json' 2>/dev/null", 60)
	got := d.probed()
	is.Equal(*got.Code, 1)
	is.Equal(got.Printed, "Uid:\t65534\t65534\t65534\t65534\nGroups:\t12345 65534 \nCapEff:\t0000000000000000\nx\n")
}

func TestPathsAreOpenedWithTheRightsOfTheAccount(t *testing.T) {
	needRoot(t)
	secret, err := os.MkdirTemp("", "root")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(secret) })
	tool := filepath.Join(secret, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, program, dir, reason string }{
		{"program", tool, "/", "program_not_executable"},
		{"directory", "/bin/sh", secret, "permission_denied"},
		{"what is missing behind a closed door", filepath.Join(secret, "none"), "/", "program_not_executable"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			spec := specOf(t, "")
			spec.Program, spec.Args, spec.Dir, spec.User = test.program, nil, test.dir, &nobody
			r := hold(t, spec).wait()
			is.True(r.NotStarted != nil)
			is.Equal(r.NotStarted.Reason, test.reason)
		})
	}
}

func TestNeverAsRoot(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, "echo ran")
	spec.User = &shimproto.User{Name: "root"}
	h := hold(t, spec)
	r := h.wait()
	is.Equal(r.NotStarted.Reason, "account_forbidden")
	is.Equal(h.output("out.1"), "")
}

func TestAFullDiskEndsNothing(t *testing.T) {
	needRoot(t)
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, `head -c 8000000 /dev/zero; head -c 8000000 /dev/zero >"$0/mine" 2>/dev/null; echo $? >&2; exit 9`)
	// Its own mount is seen by nobody else only in a namespace of its own; an
	// unmount at the end does as well here.
	if err := unix.Mount("tmpfs", spec.Folder, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip("no tmpfs can be mounted here: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(spec.Folder, unix.MNT_DETACH) })
	sockets, err := os.MkdirTemp("", "sock")
	is.NoErr(err)
	t.Cleanup(func() { os.RemoveAll(sockets) })
	spec.Socket = filepath.Join(sockets, "s")
	spec.LogHeadBytes = 64 << 20
	h := hold(t, spec)
	r := h.wait()
	is.Equal(*r.Code, 9) // the program got to its end
	is.Equal(r.Logs[0].WrittenBytes, int64(8_000_000))
	is.True(r.Logs[0].KeptBytes > 1<<20 && r.Logs[0].KeptBytes <= 2<<20)
	is.Equal(r.Logs[0].Problem, "no space left on device")
	is.True(r.Logs[1].WrittenBytes > 0)
}

// TestATreeOfSessions is one program that leaves a tree behind, session by
// session: all of it goes.
func TestATreeOfSessions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid")
	}
	const tree = `n() { if [ $1 -gt 0 ]; then setsid sh -c "$self" sh $(($1 - 1)) & setsid sh -c "$self" sh $(($1 - 1)) & fi; }; n $1; echo $$; exec sleep 1000`
	spec := specOf(t, `self=$TREE; export self; setsid sh -c "$TREE" sh 3 & echo $$; wait`)
	spec.Env = append(spec.Env, "TREE="+tree)
	h := hold(t, spec)
	d, _ := h.attach(3)
	pids := h.pids(1 + 15)
	d.send(d.stopFor(3, 0))
	is.Equal(d.exit().Signal, "SIGKILL")
	gone(t, pids...)
	is.Equal(len(pids), 16)
}
