package linux

import (
	"strconv"
	"strings"

	"fulmen/native"
)

// memory reads how memory is used, all but the pressure.
func (t tree) memory() *native.Memory {
	m := &native.Memory{}
	m.Unknown.Add("wired_bytes", native.ReasonNoOS.With("Linux does not add up what is pinned"))
	for _, field := range []string{"gpu_working_set_bytes", "gpu_used_bytes"} {
		m.Unknown.Add(field, native.ReasonNoPlatform.With("Linux does not speak for GPUs; a measurement does"))
	}
	data, err := t.bytes("proc/meminfo")
	info := parseMeminfo(data)
	absent := func(key string) native.Reason {
		if err != nil {
			return reason("meminfo", err, native.ReasonNoOS)
		}
		return native.ReasonSourceMalformed.With("meminfo: no " + key)
	}
	t.setTotals(m, info, absent)
	setSwap(m, info, absent)
	t.setCompressed(m, info)
	t.confine(m)
	return m
}

func (t tree) setTotals(m *native.Memory, info map[string]int64, absent func(string) native.Reason) {
	total, hasTotal := info["MemTotal"]
	available, hasAvailable := info["MemAvailable"]
	if hasTotal {
		m.TotalBytes = &total
	} else {
		m.Unknown.Add("total_bytes", absent("MemTotal"))
	}
	if hasAvailable {
		m.AvailableBytes = &available
	} else {
		m.Unknown.Add("available_bytes", absent("MemAvailable"))
	}
	switch {
	case !hasTotal:
		m.Unknown.Add("used_bytes", absent("MemTotal"))
	case !hasAvailable:
		m.Unknown.Add("used_bytes", absent("MemAvailable"))
	default:
		// The kernel's estimate of what is available can pass the total by the
		// watermarks it leaves out.
		m.UsedBytes = new(max(0, total-available))
	}
}

func setSwap(m *native.Memory, info map[string]int64, absent func(string) native.Reason) {
	total, ok := info["SwapTotal"]
	if !ok {
		m.Unknown.Add("swap_total_bytes", absent("SwapTotal"))
		m.Unknown.Add("swap_used_bytes", absent("SwapTotal"))
		return
	}
	m.SwapTotalBytes = &total
	if free, ok := info["SwapFree"]; ok {
		m.SwapUsedBytes = new(max(0, total-free))
		return
	}
	m.Unknown.Add("swap_used_bytes", absent("SwapFree"))
}

// setCompressed adds up zswap's pool and the memory that zram disks occupy.
func (t tree) setCompressed(m *native.Memory, info map[string]int64) {
	sum, known := info["Zswap"]
	for _, disk := range t.names("sys/block") {
		if !strings.HasPrefix(disk, "zram") {
			continue
		}
		// mm_stat: orig_data_size compr_data_size mem_used_total ..., in bytes.
		text, err := t.text("sys/block/" + disk + "/mm_stat")
		fields := strings.Fields(text)
		if err != nil || len(fields) < 3 {
			continue
		}
		if n, err := strconv.ParseInt(fields[2], 10, 64); err == nil && n >= 0 {
			sum += n
			known = true
		}
	}
	if !known {
		m.Unknown.Add("compressed_bytes", native.ReasonNoOS.With("neither zswap nor zram"))
		return
	}
	m.CompressedBytes = &sum
}

// confine replaces the machine's numbers by the container's where those are less.
func (t tree) confine(m *native.Memory) {
	g, ok := t.memoryGroup()
	if !ok {
		return
	}
	if m.TotalBytes != nil && g.limit < *m.TotalBytes {
		m.TotalBytes = &g.limit
		m.UsedBytes = &g.used
		delete(m.Unknown, "used_bytes")
		if m.AvailableBytes != nil {
			m.AvailableBytes = new(min(*m.AvailableBytes, max(0, g.limit-g.used)))
		}
	}
	if m.SwapTotalBytes != nil && g.swapLimit >= 0 && g.swapLimit < *m.SwapTotalBytes {
		m.SwapTotalBytes = &g.swapLimit
		m.SwapUsedBytes = &g.swapUsed
		delete(m.Unknown, "swap_used_bytes")
	}
}

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
