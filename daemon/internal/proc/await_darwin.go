package proc

import "golang.org/x/sys/unix"

// endWatch learns that a child has ended without reaping it: until it is reaped
// its number, and that of its process group, cannot belong to anybody else.
// waitid cannot be used: on macOS it also returns for a stopped child.
type endWatch struct{ queue int }

// newEndWatch takes what a watch needs before there is a child, so that no
// child is ever without one.
func newEndWatch() (endWatch, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return endWatch{}, err
	}
	unix.CloseOnExec(queue)
	return endWatch{queue}, nil
}

// wait returns when the child has ended, and frees the watch.
func (w endWatch) wait(pid int) {
	defer w.free()
	var change unix.Kevent_t
	unix.SetKevent(&change, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	events := make([]unix.Kevent_t, 1)
	// A child that has ended already is refused with ESRCH, as an event or as
	// the call's error.
	for {
		if _, err := unix.Kevent(w.queue, []unix.Kevent_t{change}, events, nil); err != unix.EINTR {
			return
		}
	}
}

// free is for a watch that never got a child.
func (w endWatch) free() { _ = unix.Close(w.queue) }
