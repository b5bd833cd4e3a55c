package proc

import "golang.org/x/sys/unix"

// readOOM says that macOS does not count the processes that it ended for lack
// of memory where anybody may read it.
func readOOM() oomCount { return oomCount{group: -1, system: -1} }

// physicalMemory is this machine's memory in bytes, 0 where unknown.
func physicalMemory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(bytes)
}

// rssBytes gives ru_maxrss, which is in bytes here.
func rssBytes(maxrss int64) int64 { return maxrss }
