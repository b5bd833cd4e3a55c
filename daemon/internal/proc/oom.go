package proc

import (
	"strconv"
	"strings"
)

// oomCount is how often the kernel ended a process for lack of memory.
type oomCount struct {
	// group counts processes of this process's own control group, where a
	// worker starts; system counts all. -1 where the system does not tell.
	group, system int64
}

// oomSign is what two counts, before and after a worker's life, say of it.
type oomSign int

const (
	oomUnknown  oomSign = iota // the system does not count
	oomNone                    // nobody was ended
	oomProbably                // somebody was
	oomSurely                  // somebody of this group was
)

// since compares two counts.
func (c oomCount) since(before oomCount) oomSign {
	switch {
	case before.group >= 0 && c.group > before.group:
		return oomSurely
	case before.system >= 0 && c.system > before.system:
		return oomProbably
	case before.group < 0 && before.system < 0 || c.group < 0 && c.system < 0:
		return oomUnknown
	}
	return oomNone
}

// counter finds the value of a key in the text of memory.events,
// memory.oom_control or /proc/vmstat: lines of a key, a space and a number. It
// is -1 where there is none.
func counter(text, key string) int64 {
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(line, key+" ")
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	return -1
}

// memoryGroup finds the control group in the text of /proc/self/cgroup: its
// path below the hierarchy, and whether that is the one of cgroup 1's memory
// controller. A path that leads elsewhere is none.
func memoryGroup(text string) (path string, v1, ok bool) {
	for line := range strings.Lines(text) {
		// number:controllers:path; cgroup 2 is number 0 without controllers.
		number, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), ":")
		controllers, p, found := strings.Cut(rest, ":")
		if !found || !strings.HasPrefix(p, "/") || strings.Contains(p+"/", "/../") {
			continue
		}
		for name := range strings.SplitSeq(controllers, ",") {
			if name == "memory" {
				return p, true, true
			}
		}
		if number == "0" && controllers == "" {
			path, ok = p, true
		}
	}
	return path, false, ok
}
