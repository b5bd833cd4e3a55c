package shim

import "syscall"

// family finds and ends what the program has started, as far as it stays in the
// program's group; launchd ends the rest with the job.
type family struct {
	program int
	except  []int // the shim's own helpers, which are in no group of the program's
}

// signal sends to the program's group.
func (f family) signal(s syscall.Signal) { _ = syscall.Kill(-f.program, s) }

// kill kills all that is left and reports whether there was anything.
func (f family) kill() bool { return syscall.Kill(-f.program, syscall.SIGKILL) == nil }

// left reports whether anything is left.
func (f family) left() bool { return syscall.Kill(-f.program, 0) == nil }
