package proc

import (
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

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

// readOOM reads the counts. In cgroup 2 a group's count includes those below it.
func readOOM() oomCount {
	c := oomCount{group: -1, system: -1}
	if text, err := os.ReadFile("/proc/vmstat"); err == nil {
		c.system = counter(string(text), "oom_kill")
	}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return c
	}
	path, v1, ok := memoryGroup(string(text))
	if !ok {
		return c
	}
	file := filepath.Join("/sys/fs/cgroup", path, "memory.events")
	if v1 {
		file = filepath.Join("/sys/fs/cgroup/memory", path, "memory.oom_control")
	}
	if text, err = os.ReadFile(file); err == nil {
		c.group = counter(string(text), "oom_kill")
	}
	return c
}

// physicalMemory is this machine's memory in bytes, 0 where unknown.
func physicalMemory() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}

// rssBytes turns ru_maxrss, which is in KiB here, into bytes.
func rssBytes(maxrss int64) int64 { return maxrss << 10 }
