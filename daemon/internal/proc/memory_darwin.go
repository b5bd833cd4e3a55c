package proc

import "golang.org/x/sys/unix"

// physicalMemory is this machine's memory in bytes, 0 where unknown.
func physicalMemory() int64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return int64(bytes)
}
