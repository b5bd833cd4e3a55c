package shim

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// closeOnExec would mark all descriptors from one on; macOS has no call for that.
func closeOnExec(uint) error { return errors.ErrUnsupported }

// kill kills all that is left in the program's group and reports whether there was
// anything; launchd ends the rest with the job.
func (f family) kill() bool { return syscall.Kill(-f.program, syscall.SIGKILL) == nil }

// left reports whether anything is left in the group.
func (f family) left() bool { return syscall.Kill(-f.program, 0) == nil }

// memoryKills is not known: macOS tells nobody why it killed a process.
func memoryKills() (n uint64, known bool) { return 0, false }

// holeRequest is fpunchhole_t of sys/fcntl.h.
type holeRequest struct {
	flags, reserved uint32
	offset, length  int64
}

// fPunchHole is F_PUNCHHOLE of sys/fcntl.h. APFS wants multiples of 4 KiB.
const fPunchHole = 99

// punchHole gives a part of the file back to the file system; its size stays.
func punchHole(f *os.File, from, to int64) error {
	request := holeRequest{offset: from, length: to - from}
	_, _, errno := unix.Syscall(unix.SYS_FCNTL, f.Fd(), fPunchHole, uintptr(unsafe.Pointer(&request)))
	if errno != 0 {
		return errno
	}
	return nil
}

// rssBytes is ru_maxrss, which is in bytes here.
func rssBytes(maxrss int64) int64 { return maxrss }

// getTermios reads the settings of a terminal.
const getTermios = unix.TIOCGETA
