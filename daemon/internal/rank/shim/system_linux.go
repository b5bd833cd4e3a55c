package shim

import (
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// closeOnExec marks all descriptors from one on, in one call. Kernels before 5.11
// have no such call.
func closeOnExec(from uint) error {
	return unix.CloseRange(from, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}

// punchHole gives a part of the file back to the file system; its size stays.
func punchHole(f *os.File, from, to int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
		if err != unix.EINTR {
			return err
		}
	}
}

// setGroups sets the supplementary groups of the calling thread. The list is
// never empty.
func setGroups(groups []uint32) error {
	_, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
