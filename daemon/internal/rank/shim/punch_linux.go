package shim

import (
	"os"

	"golang.org/x/sys/unix"
)

// punchHole gives a part of the file back to the file system; its size stays.
func punchHole(f *os.File, from, to int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
		if err != unix.EINTR {
			return err
		}
	}
}
