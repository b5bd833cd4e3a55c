package native

import (
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// MemoryKills is how often the system ended a process for want of memory.
type MemoryKills struct {
	// Group counts processes of this process's own control group and of those below
	// it, where what it starts is; System counts all. -1 where the system does not
	// tell, as macOS tells nobody.
	Group, System int64
}

// CountMemoryKills reads the counts.
func CountMemoryKills() MemoryKills {
	kills := MemoryKills{Group: -1, System: memoryKills("/proc/vmstat")}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for _, file := range memoryFiles(string(groups)) {
		if kills.Group = memoryKills(file); kills.Group >= 0 {
			break
		}
	}
	return kills
}

// memoryFiles are where a group's count may be, from the text of /proc/self/cgroup
// (cgroups(7)): of version 2, then of version 1, where the system mounts them. A
// group outside the tree that is mounted has none.
func memoryFiles(groups string) []string {
	var second, first []string
	for line := range strings.Lines(groups) {
		// number:controllers:path; version 2 is number 0 without controllers.
		number, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		if !strings.HasPrefix(group, "/") || strings.Contains(group+"/", "/../") {
			continue
		}
		if number == "0" && controllers == "" {
			second = append(second, path.Join("/sys/fs/cgroup", group, "memory.events"))
		}
		if strings.Contains(","+controllers+",", ",memory,") {
			first = append(first, path.Join("/sys/fs/cgroup/memory", group, "memory.oom_control"))
		}
	}
	return append(second, first...)
}

// memoryKills reads the count from a file, or gives -1.
func memoryKills(file string) int64 {
	text, _ := os.ReadFile(file)
	return parseKills(string(text))
}

// parseKills finds "oom_kill N" among lines of a key, a space and a number, or gives -1.
func parseKills(text string) int64 {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "oom_kill "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n >= 0 {
				return n
			}
		}
	}
	return -1
}

// MaxRSSBytes turns ru_maxrss into bytes: Linux gives KiB, macOS bytes.
func MaxRSSBytes(maxrss int64) int64 {
	if runtime.GOOS == "linux" {
		return maxrss << 10
	}
	return maxrss
}
