package shim

import "syscall"

// family finds and ends what the program has started.
type family struct {
	program int
	except  []int // the shim's own helpers
}

// signal sends to the program's group; the program must not have been reaped.
func (f family) signal(s syscall.Signal) { _ = syscall.Kill(-f.program, s) }
