package shim

import (
	"os"
	"strconv"
	"strings"
)

// memoryKills counts the processes of this one's control group that the system has
// killed for want of memory; false where there is no such group. A unit of systemd
// has one of its own; otherwise it is the daemon's, and a rank that somebody else
// has killed while it counted up is taken for one that memory has ended.
func memoryKills() (n uint64, known bool) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for _, file := range memoryFiles(string(groups)) {
		if text, err := os.ReadFile(file); err == nil {
			if n, known = parseKills(string(text)); known {
				return n, true
			}
		}
	}
	return 0, false
}

// memoryFiles are where the count may be, from /proc/self/cgroup (cgroups(7)): of
// version 2, then of version 1, where the system mounts them.
func memoryFiles(groups string) []string {
	var second, first []string
	for line := range strings.Lines(groups) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) < 3 || !strings.HasPrefix(fields[2], "/") {
			continue
		}
		path := strings.TrimSuffix(fields[2], "/")
		switch {
		case fields[0] == "0" && fields[1] == "":
			second = append(second, "/sys/fs/cgroup"+path+"/memory.events")
		case fields[1] == "memory":
			first = append(first, "/sys/fs/cgroup/memory"+path+"/memory.oom_control")
		}
	}
	return append(second, first...)
}

// parseKills reads the line "oom_kill N".
func parseKills(text string) (n uint64, known bool) {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == "oom_kill" {
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
