package shim

import (
	"fmt"
	"os"
	"syscall"
)

// guardScript reads the number of the group, then one more line. If that never
// comes, because the shim is gone, the group is killed. It is a shell because
// that is the smallest thing that is on every system: a megabyte, a millisecond.
const guardScript = `read -r group || exit 0; read -r over && exit 0; kill -s KILL -- "-$group"`

// guard is the process that kills the group of a shim that was killed.
type guard struct {
	pid    int
	pipe   *os.File
	guards bool
}

// startGuard starts the guard in a session of its own, where no signal to the
// shim's group or the program's reaches it.
func startGuard() (*guard, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", guardScript}, &syscall.ProcAttr{
		Dir: "/", Env: []string{}, Files: []uintptr{theirs.Fd(), null.Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("the guard of the group: %w", err)
	}
	return &guard{pid: pid, pipe: ours}, nil
}

// watch tells the guard which group it guards.
func (g *guard) watch(group int) {
	g.guards = true
	fmt.Fprintln(g.pipe, group)
}

// dismiss ends the guard without harm. A guard that was told of no group ends
// with its pipe.
func (g *guard) dismiss() {
	if g.guards {
		fmt.Fprintln(g.pipe)
	}
	_ = g.pipe.Close()
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(g.pid, &status, 0, nil); err != syscall.EINTR {
			return // ECHILD: it was reaped with the others before
		}
	}
}
