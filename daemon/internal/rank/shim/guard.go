package shim

import (
	"fmt"
	"os"
	"syscall"
)

// guardScript reads the number of the group and then, in the end, the word
// "over". If that never comes, because the shim is gone, the group is killed,
// and on Linux every process that bears the mark: what has left the group, and
// what was started in the moment before the number was known. It is a shell
// because that is the smallest thing that is on every system: a megabyte, a
// millisecond.
const guardScript = `
while read -r line; do
	[ "$line" = over ] && exit 0
	group=$line
done
[ -n "$group" ] && kill -s KILL -- "-$group"
for again in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	found=$(grep -slzFx "$1" /proc/[0-9]*/environ)
	[ -n "$found" ] || exit 0
	for file in $found; do
		process=${file#/proc/}
		kill -s KILL "${process%/environ}"
	done
done`

// markVariable is in the environment of everything that the program starts. Its
// value is the rank's folder, which no other attempt has.
const markVariable = "FULMEN_SHIM"

// guard is the process that kills the group of a shim that was killed.
type guard struct {
	pid     int // 0 once it was reaped
	pipe    *os.File
	stopped string // the signal that stopped it; empty while it goes on
}

// startGuard starts the guard in a session of its own, where no signal to the
// shim's group or the program's reaches it.
func startGuard(folder string) (*guard, error) {
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
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", guardScript, "sh", markVariable + "=" + folder}, &syscall.ProcAttr{
		Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Files: []uintptr{theirs.Fd(), null.Fd(), null.Fd()},
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
	fmt.Fprintln(g.pipe, group)
}

// dismiss ends the guard without harm: by a signal, since one that was stopped reads
// nothing, and after the word, which is read should it come first.
func (g *guard) dismiss() {
	fmt.Fprintln(g.pipe, "over")
	_ = g.pipe.Close()
	if g.pid == 0 {
		return
	}
	_ = syscall.Kill(g.pid, syscall.SIGKILL)
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(g.pid, &status, 0, nil); err != syscall.EINTR {
			return // ECHILD: it was reaped with the others before
		}
	}
}
