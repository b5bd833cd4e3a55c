package proc

import (
	"os"
	"path/filepath"
	"syscall"
)

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
