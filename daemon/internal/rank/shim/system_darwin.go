package shim

import (
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// closeOnExec would mark all descriptors from one on; macOS has no call for that.
func closeOnExec(uint) error { return errors.ErrUnsupported }

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
