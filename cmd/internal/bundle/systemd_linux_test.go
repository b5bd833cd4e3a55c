package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"
)

// The units, as they are, under systemd itself. It takes root, and what it does
// stays in namespaces of its own.
func TestUnderSystemd(t *testing.T) {
	const systemd = "/lib/systemd/systemd"
	if os.Getenv("FULMEN_SOAK") == "" {
		t.Skip("FULMEN_SOAK=1 runs the units under systemd")
	}
	if _, err := os.Stat(systemd); err != nil || os.Getuid() != 0 {
		t.Skip("it takes root and systemd")
	}
	is := is.New(t)
	folder := t.TempDir()
	units, err := filepath.Abs(unitFolder)
	is.NoErr(err)
	scripts, err := filepath.Abs("testdata/systemd")
	is.NoErr(err)
	out, err := exec.Command("go", "build", "-o", folder+"/", "fulmen/cmd/fulmend", "fulmen/cmd/fulmen-shim", "fulmen/cmd/fulmen").CombinedOutput()
	is.Equal(string(out), "")
	is.NoErr(err)
	group, err := os.MkdirTemp(groups(t), "fulmen-test-")
	is.NoErr(err)
	t.Cleanup(func() { // the first process has ended, and it ends after all others
		if out, err := exec.Command("find", group, "-depth", "-type", "d", "-exec", "rmdir", "{}", "+").CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	at, err := os.Open(group)
	is.NoErr(err)
	defer at.Close()
	boot := exec.Command("/bin/sh", "-c", `mount -t proc proc /proc && exec /bin/sh "$0" "$@"`, filepath.Join(scripts, "boot.sh"), units, folder)
	var reported bytes.Buffer
	boot.Stdout, boot.Stderr = &reported, &reported
	boot.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(at.Fd()), Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWNET | syscall.CLONE_NEWCGROUP, Unshareflags: syscall.CLONE_NEWNS}
	is.NoErr(boot.Start())
	t.Cleanup(func() { _ = boot.Process.Kill(); _ = boot.Wait() })
	life := exec.CommandContext(t.Context(), "nsenter", "-t", fmt.Sprint(boot.Process.Pid), "-m", "-p", "-u", "-i", "-n", "-C", "/bin/bash", filepath.Join(scripts, "life.sh"))
	out, err = life.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, reported.String())
	}
	is.Equal(string(out), strings.TrimLeft(`
started: running, serves ws://127.0.0.1:7731/v1
restarted: active, 1
killed: active, 2
stopped: success
said: Fulmen is stopped.
woken: stopped by a person; fulmen start starts it
goes on: running
ended: success
hung: active, 1
`, "\n"))
}

// groups is where the control groups of version 2 are.
func groups(t *testing.T) string {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mounts")
	is.New(t).NoErr(err)
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 2 && f[2] == "cgroup2" {
			return f[1]
		}
	}
	t.Skip("no control groups of version 2 here")
	return ""
}
