package linux

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"sync"
	"time"

	"fulmen/native"
)

// memory reads how memory is used, all but the pressure.
func (t tree) memory() *native.Memory {
	m := &native.Memory{}
	m.Unknown.Add("wired_bytes", native.ReasonNoOS.With("Linux does not report how much memory is pinned"))
	for _, field := range []string{"gpu_working_set_bytes", "gpu_used_bytes"} {
		m.Unknown.Add(field, native.ReasonNoPlatform.With("Linux does not report the GPU's memory; a measurement does"))
	}
	data, err := t.bytes("proc/meminfo")
	info := parseMeminfo(data)
	setTotals(m, func(key string) (int64, native.Reason) {
		value, ok := info[key]
		switch {
		case err != nil:
			return 0, reason("meminfo", err, native.ReasonNoOS)
		case !ok:
			return 0, native.ReasonSourceMalformed.With("proc/meminfo has no " + key)
		}
		return value, ""
	})
	t.setCompressed(m, info)
	t.confine(m)
	return m
}

func setTotals(m *native.Memory, read func(string) (int64, native.Reason)) {
	total, noTotal := read("MemTotal")
	available, noAvailable := read("MemAvailable")
	native.Put(&m.TotalBytes, &m.Unknown, "total_bytes", &total, noTotal)
	native.Put(&m.AvailableBytes, &m.Unknown, "available_bytes", &available, noAvailable)
	// The kernel's estimate of what is available can pass the total by the
	// watermarks it leaves out.
	native.Put(&m.UsedBytes, &m.Unknown, "used_bytes", new(max(0, total-available)), cmp.Or(noTotal, noAvailable))

	swap, noSwap := read("SwapTotal")
	free, noFree := read("SwapFree")
	native.Put(&m.SwapTotalBytes, &m.Unknown, "swap_total_bytes", &swap, noSwap)
	native.Put(&m.SwapUsedBytes, &m.Unknown, "swap_used_bytes", new(max(0, swap-free)), cmp.Or(noSwap, noFree))
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
		m.Unknown.Add("compressed_bytes", native.ReasonNoOS.With("neither zswap nor zram is in use"))
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

// parseMeminfo reads /proc/meminfo: lines "Name:
// number kB". The values are in bytes; what counts something else than kB, or
// makes no sense, is left out.
func parseMeminfo(data []byte) map[string]int64 {
	values := map[string]int64{}
	for line := range bytes.Lines(data) {
		name, rest, _ := strings.Cut(string(line), ":")
		fields := strings.Fields(rest)
		if len(fields) != 2 || fields[1] != "kB" {
			continue
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		if err != nil {
			continue
		}
		// The kernel's kB are 1,024 bytes.
		if size, ok := scaled(n, 1024); ok {
			values[name] = size
		}
	}
	return values
}

// parseCounters reads lines "name number", as memory.stat of a control group.
func parseCounters(data []byte) map[string]int64 {
	values := map[string]int64{}
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) != 2 {
			continue
		}
		if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil && n >= 0 {
			values[fields[0]] = n
		}
	}
	return values
}

// The levels of pressure; the package comment says how they are meant.
const (
	warningRatio  = 0.15 // of the time, some task waits
	criticalRatio = 0.10 // of the time, all tasks wait
	// stallHold is how long an announced stall counts. It is as long as the
	// kernel's shortest average.
	stallHold = 10 * time.Second
)

// stallRatios are the parts (0 to 1) of the last 10 s in which some task, and
// all tasks, waited for memory. Nil is unknown: the line was not there.
type stallRatios struct{ some, full *float64 }

// parsePressure reads a file of pressure-stall information: "some avg10=1.23
// avg60=... total=...", and a line "full" of the same form. Averages are in
// percent.
func parsePressure(data []byte) stallRatios {
	var ratios stallRatios
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) == 0 {
			continue
		}
		for _, field := range fields[1:] {
			value, ok := strings.CutPrefix(field, "avg10=")
			percent, err := strconv.ParseFloat(value, 64)
			if !ok || err != nil || !(percent >= 0 && percent <= 100) {
				continue
			}
			switch fields[0] {
			case "some":
				ratios.some = new(percent / 100)
			case "full":
				ratios.full = new(percent / 100)
			}
		}
	}
	return ratios
}

// pressureFile is the file that counts: the container's where a limit makes it
// one, else the machine's.
func (t tree) pressureFile() string {
	const confined = groupFolder + "memory.pressure"
	if _, ok := t.memoryGroup(); ok && t.exists(confined) {
		return confined
	}
	return "proc/pressure/memory"
}

// setPressure reads the averages and takes account of stalls that the kernel
// announced, which the averages show seconds later.
func (m *machine) setPressure(memory *native.Memory) {
	file := m.tree.pressureFile()
	data, err := m.tree.bytes(file)
	ratios := parsePressure(data)
	if err != nil || ratios.some == nil {
		why := native.ReasonSourceMalformed.With("proc/pressure/memory has no avg10")
		if err != nil {
			why = reason("pressure", err, native.ReasonNoOS.With("the kernel does not count pressure stalls"))
		}
		memory.Unknown.Add("pressure", why)
		memory.Unknown.Add("pressure_stall_ratio", why)
		return
	}
	memory.PressureStallRatio = ratios.some
	memory.Pressure = m.stalls.level(ratios, m.clock.Boot())
}

// stalls remembers when the kernel last announced a stall, on the boot clock.
type stalls struct {
	hold time.Duration // how long one counts: stallHold

	mu         sync.Mutex
	some, full time.Duration
}

func (s *stalls) note(full bool, now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.some = now; full {
		s.full = now
	}
}

func (s *stalls) level(ratios stallRatios, now time.Duration) native.Pressure {
	s.mu.Lock()
	defer s.mu.Unlock()
	recent := func(at time.Duration) bool { return at > 0 && now-at < s.hold }
	switch {
	case recent(s.full), ratios.full != nil && *ratios.full >= criticalRatio:
		return native.PressureCritical
	case recent(s.some), ratios.some != nil && *ratios.some >= warningRatio:
		return native.PressureWarning
	}
	return native.PressureNormal
}
