package shim

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeOnExec marks all descriptors from one on, in one call. Kernels before 5.11
// have no such call.
func closeOnExec(from uint) error {
	return unix.CloseRange(from, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
}
