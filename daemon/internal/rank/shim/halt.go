package shim

import (
	"cmp"
	"syscall"

	"golang.org/x/sys/unix"
)

// halt reports whether a status is of a process that was stopped, and by which signal, or
// continued, by "". Go tells these two apart by Linux's numbers alone.
func halt(status syscall.WaitStatus) (by string, isHalt bool) {
	const stopped, continued = 0x7f, 0xffff
	signal := syscall.Signal(status >> 8 & 0xff)
	switch {
	case status == continued || status&0x7f == stopped && signal == syscall.SIGCONT:
		return "", true
	case status&0x7f != stopped:
		return "", false
	}
	return signalName(signal), true
}

// signalName is the name of a signal; a real-time signal has none of its own.
func signalName(s syscall.Signal) string { return cmp.Or(unix.SignalName(s), "SIGRT") }

// halted notes that the program or its guard was stopped by a signal, or goes on.
func (s *shim) halted(pid int, by string) {
	of := &s.stopped
	switch pid {
	case s.family.program:
	case s.guard.pid:
		of = &s.guard.stopped
	default:
		return
	}
	if *of != by {
		*of = by
		s.announce()
	}
}

// replaceGuard starts another guard in the place of one that was killed.
func (s *shim) replaceGuard() {
	s.guard.pid, s.guard.stopped = 0, ""
	if s.finishing {
		return
	}
	_ = s.guard.pipe.Close()
	another, err := startGuard(s.folder)
	if err != nil {
		s.logf("nothing guards the rank any more: %v", err)
		return
	}
	s.guard = another
	s.family.except = []int{another.pid}
	if s.family.program != 0 {
		another.watch(s.family.program)
	}
}
