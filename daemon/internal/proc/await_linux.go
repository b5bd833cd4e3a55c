package proc

import "golang.org/x/sys/unix"

// endWatch learns that a child has ended without reaping it: until it is reaped
// its number, and that of its process group, cannot belong to anybody else.
type endWatch struct{}

// newEndWatch takes what a watch needs before there is a child, so that no
// child is ever without one. Here that is nothing.
func newEndWatch() (endWatch, error) { return endWatch{}, nil }

// wait returns when the child has ended, and frees the watch.
func (endWatch) wait(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// free is for a watch that never got a child.
func (endWatch) free() {}
