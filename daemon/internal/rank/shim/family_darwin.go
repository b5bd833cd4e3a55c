package shim

import "syscall"

// kill kills all that is left in the program's group and reports whether there was
// anything; launchd ends the rest with the job.
func (f family) kill() bool { return syscall.Kill(-f.program, syscall.SIGKILL) == nil }

// left reports whether anything is left in the group.
func (f family) left() bool { return syscall.Kill(-f.program, 0) == nil }
