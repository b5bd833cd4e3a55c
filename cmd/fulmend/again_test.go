package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// copyTo installs a program under a path, as an installer does, with some bytes
// behind it that nobody reads.
func copyTo(t *testing.T, path string, more string) {
	t.Helper()
	is := is.New(t)
	from, err := os.Open(os.Args[0])
	is.NoErr(err)
	defer from.Close()
	to, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	is.NoErr(err)
	_, err = io.Copy(to, io.MultiReader(from, bytes.NewBufferString(more)))
	is.NoErr(err)
	is.NoErr(to.Close())
	is.NoErr(os.Rename(path+".new", path))
}

// An upgrade of a daemon that nobody keeps: the new program is noticed, and takes
// over in the same process when it is asked to.
func TestUpgradeInPlace(t *testing.T) {
	is := is.New(t)
	home := newHome(t, "[api]\nport = 0\n")
	program := filepath.Join(home, "fulmend")
	copyTo(t, program, "")
	process := fulmend(program, home)
	out := &ready{seen: make(chan struct{})}
	process.Stderr = out
	is.NoErr(process.Start())
	defer func() {
		process.Process.Signal(syscall.SIGTERM)
		is.NoErr(process.Wait())
	}()
	out.await(t)
	socket := filepath.Join(home, "run", api.SocketFile)
	c := dial(t, socket)
	before := call[api.DaemonInfoResult](t, c, "daemon.info", nil)
	is.True(!before.Activated)
	copyTo(t, program, "two")
	awaitCondition(t, c, api.ReasonProgramReplaced, true)

	out.again()
	call[api.Empty](t, c, "daemon.restart", nil)
	out.await(t)
	c = dial(t, socket)
	after := call[api.DaemonInfoResult](t, c, "daemon.info", nil)
	is.Equal(after.PID, before.PID) // for who started it nothing has happened
	is.Equal(after.Node, before.Node)
	is.True(after.StartedAt.After(before.StartedAt.Time))
	awaitCondition(t, c, api.ReasonProgramReplaced, false)
	now, err := os.Stat(program)
	is.NoErr(err)
	if runs, err := os.Stat("/proc/" + strconv.Itoa(after.PID) + "/exe"); err == nil {
		is.True(os.SameFile(runs, now))
	}
}

// TestAnOlderDaemonsShim: a daemon of a version before, whose programs were replaced,
// starts shims by this program, which goes on as the one beside it.
func TestAnOlderDaemonsShim(t *testing.T) {
	is := is.New(t)
	home := newHome(t, "")
	program := filepath.Join(home, "fulmend")
	copyTo(t, program, "")
	run := func(args ...string) (string, int) {
		c := exec.Command(program, args...)
		c.Env = append(os.Environ(), asFulmend+"=1")
		out, _ := c.CombinedOutput() // the status says more
		return string(out), c.ProcessState.ExitCode()
	}
	beside := filepath.Join(home, "fulmen-shim")
	reported, status := run("shim", "/a folder")
	is.Equal(reported, "fulmend: execute "+beside+": no such file or directory\n")
	is.Equal(status, api.ExitFailed)
	is.NoErr(os.WriteFile(beside, []byte("#!/bin/sh\necho \"$0 $# $*\"; exit 7\n"), 0o755))
	for _, args := range [][]string{{"shim", "/a folder"}, {"look"}} {
		reported, status = run(args...)
		is.Equal(reported, fmt.Sprintln(beside, len(args), strings.Join(args, " ")))
		is.Equal(status, 7)
	}
}
