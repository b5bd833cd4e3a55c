package linux

// groupFolder is the top of the control groups (version 2) that this process
// can see: the container's own group where there is one. On the host it has no
// memory.max.
const groupFolder = "sys/fs/cgroup/"

// group is the memory of the container, in bytes.
type group struct {
	limit, used         int64
	swapLimit, swapUsed int64 // swapLimit is -1 without one
}

// memoryGroup reads the container's limit. It is false where there is none,
// which the kernel writes as "max", or where its use is not told.
func (t tree) memoryGroup() (group, bool) {
	limit, err := t.number(groupFolder + "memory.max")
	if err != nil {
		return group{}, false
	}
	current, err := t.number(groupFolder + "memory.current")
	if err != nil {
		return group{}, false
	}
	stat, _ := t.bytes(groupFolder + "memory.stat")
	counters := parseCounters(stat)
	// What can be dropped at once is charged to the group too.
	g := group{limit: limit, used: max(0, current-counters["inactive_file"]-counters["slab_reclaimable"]), swapLimit: -1}
	if n, err := t.number(groupFolder + "memory.swap.max"); err == nil {
		g.swapLimit = n
	}
	if n, err := t.number(groupFolder + "memory.swap.current"); err == nil {
		g.swapUsed = n
	}
	return g, true
}
