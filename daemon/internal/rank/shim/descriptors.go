package shim

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepDescriptors keeps whatever this process was started with, but for the three
// streams, from the programs that it starts: a daemon's surroundings may have left
// it open.
func keepDescriptors() {
	if closeOnExec(3) == nil {
		return
	}
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
