package linux

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"fulmen/native"
)

const cpuFolder = "sys/devices/system/cpu/"

// maxCPU is above the largest NR_CPUS that a kernel can be built with.
const maxCPU = 1 << 16

// parseCPUList reads the kernel's form of a set of processors: "0-3,8". An empty
// list is an empty set.
func parseCPUList(text string) ([]int, error) {
	var cpus []int
	for item := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		if item == "" {
			continue
		}
		low, high, isRange := strings.Cut(item, "-")
		if !isRange {
			high = low
		}
		first, err1 := strconv.Atoi(low)
		last, err2 := strconv.Atoi(high)
		if err := errors.Join(err1, err2); err != nil || first < 0 || last < first || last >= maxCPU {
			return nil, malformedError(text)
		}
		for cpu := first; cpu <= last; cpu++ {
			if len(cpus) == maxCPU {
				return nil, malformedError(text)
			}
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// cpuList reads a file that holds such a list.
func (t tree) cpuList(file string) ([]int, error) {
	text, err := t.text(file)
	if err != nil {
		return nil, err
	}
	return parseCPUList(text)
}

// setCores counts cores, not threads: the processors that are online, once for
// each set of siblings.
func (t tree) setCores(id *native.Identity) {
	const unkinded = "sysfs does not tell the kinds of cores apart"
	online, err := t.cpuList(cpuFolder + "online")
	if err == nil && len(online) == 0 {
		err = malformedError("")
	}
	if err != nil {
		why := reason("online", err, native.ReasonNoOS.With("sysfs lists no processors"))
		id.Unknown.Add("cpu_cores", why)
		id.Unknown.Add("cpu_performance_cores", why)
		id.Unknown.Add("cpu_efficiency_cores", why)
		return
	}
	leaders := t.leaders(online)
	id.CPUCores = new(len(leaders))
	fast, ok := t.fastest(online)
	if !ok {
		id.Unknown.Add("cpu_performance_cores", native.ReasonNoOS.With(unkinded))
		id.Unknown.Add("cpu_efficiency_cores", native.ReasonNoOS.With(unkinded))
		return
	}
	performance := 0
	for _, cpu := range leaders {
		if fast[cpu] {
			performance++
		}
	}
	id.CPUPerformanceCores = new(performance)
	id.CPUEfficiencyCores = new(len(leaders) - performance)
}

// leaders gives the first processor of each core. One whose siblings are not
// told is a core of its own.
func (t tree) leaders(online []int) []int {
	seen := map[int]bool{}
	var leaders []int
	for _, cpu := range online {
		if seen[cpu] {
			continue
		}
		leaders = append(leaders, cpu)
		// The first name is that of kernels since 5.5.
		siblings, err := t.cpuList(fmt.Sprintf("%scpu%d/topology/core_cpus_list", cpuFolder, cpu))
		if err != nil {
			siblings, _ = t.cpuList(fmt.Sprintf("%scpu%d/topology/thread_siblings_list", cpuFolder, cpu))
		}
		for _, s := range siblings {
			seen[s] = true
		}
	}
	return leaders
}

// fastest tells the processors of the fastest kind: on x86 by the performance
// counters, of which hybrid chips have one unit for each kind, elsewhere by the
// capacity that the scheduler works with.
func (t tree) fastest(online []int) (map[int]bool, bool) {
	fast := map[int]bool{}
	core, err := t.cpuList("sys/devices/cpu_core/cpus")
	switch {
	case err == nil:
		for _, cpu := range core {
			fast[cpu] = true
		}
		return fast, true
	case t.exists("sys/devices/cpu/type"):
		for _, cpu := range online {
			fast[cpu] = true
		}
		return fast, true
	}
	capacity := map[int]int64{}
	most := int64(0)
	for _, cpu := range online {
		n, err := t.number(fmt.Sprintf("%scpu%d/cpu_capacity", cpuFolder, cpu))
		if err != nil {
			return nil, false
		}
		capacity[cpu] = n
		most = max(most, n)
	}
	for cpu, n := range capacity {
		fast[cpu] = n == most
	}
	return fast, true
}

// cpuInfo is what /proc/cpuinfo says of the processors.
type cpuInfo struct {
	model string    // the first "model name"; arm64 kernels give none
	parts []armPart // kinds of core of an Arm chip, each once, in order
}

// armPart is the implementer and part number of an Arm core, from its MIDR.
type armPart struct{ implementer, part uint64 }

// parseCPUInfo reads /proc/cpuinfo: blocks of "key : value", one a processor.
func parseCPUInfo(data []byte) cpuInfo {
	var info cpuInfo
	var part armPart
	seen := map[armPart]bool{}
	for line := range bytes.Lines(data) {
		key, value, _ := strings.Cut(string(line), ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "model name":
			if info.model == "" {
				info.model = strings.ToValidUTF8(strings.Join(strings.Fields(value), " "), "\uFFFD")
			}
		case "CPU implementer":
			part.implementer, _ = strconv.ParseUint(value, 0, 64)
		case "CPU part":
			number, err := strconv.ParseUint(value, 0, 64)
			if part.part = number; err == nil && !seen[part] {
				seen[part] = true
				info.parts = append(info.parts, part)
			}
		}
	}
	return info
}

// armCores names Arm's own cores by part number, as their reference manuals
// give it (MIDR_EL1, implementer 0x41).
func armCores() map[uint64]string {
	return map[uint64]string{
		0xd03: "Cortex-A53", 0xd04: "Cortex-A35", 0xd05: "Cortex-A55", 0xd07: "Cortex-A57", 0xd08: "Cortex-A72", 0xd09: "Cortex-A73",
		0xd0a: "Cortex-A75", 0xd0b: "Cortex-A76", 0xd0c: "Neoverse-N1", 0xd0d: "Cortex-A77", 0xd40: "Neoverse-V1", 0xd41: "Cortex-A78",
		0xd44: "Cortex-X1", 0xd46: "Cortex-A510", 0xd47: "Cortex-A710", 0xd48: "Cortex-X2", 0xd49: "Neoverse-N2", 0xd4d: "Cortex-A715",
		0xd4e: "Cortex-X3", 0xd4f: "Neoverse-V2", 0xd80: "Cortex-A520", 0xd81: "Cortex-A720", 0xd82: "Cortex-X4",
	}
}

// name is the core's, or its numbers where only those are known.
func (p armPart) name() string {
	const arm = 0x41
	if name := armCores()[p.part]; p.implementer == arm && name != "" {
		return name
	}
	return "implementer 0x" + strconv.FormatUint(p.implementer, 16) + " part 0x" + strconv.FormatUint(p.part, 16)
}

// chip is the processor's name: what the kernel calls it, else the chip that the
// device tree names, else the kinds of its cores.
func (t tree) chip() (string, native.Reason) {
	data, err := t.bytes("proc/cpuinfo")
	if err != nil {
		return "", reason("cpuinfo", err, native.ReasonNoOS)
	}
	info := parseCPUInfo(data)
	if info.model != "" {
		return info.model, ""
	}
	if compatible := t.compatible(); len(compatible) > 1 {
		return compatible[len(compatible)-1], ""
	}
	names := make([]string, len(info.parts))
	for i, p := range info.parts {
		names[i] = p.name()
	}
	if len(names) == 0 {
		return "", native.ReasonNoOS.With("cpuinfo names no model")
	}
	return strings.Join(names, " + "), ""
}

// cpuTimes is what /proc/stat counts since the start, over all processors, in
// ticks of the kernel.
type cpuTimes struct {
	busy, total uint64
	bootedAt    int64 // seconds since 1970; 0 is unknown
}

// parseStat reads /proc/stat. Without a whole line "cpu" the times are zero.
func parseStat(data []byte) cpuTimes {
	var times cpuTimes
	for line := range bytes.Lines(data) {
		fields := strings.Fields(string(line))
		if len(fields) < 2 {
			continue
		}
		switch fields[0] {
		case "cpu":
			times.busy, times.total = parseTicks(fields[1:])
		case "btime":
			times.bootedAt, _ = strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return times
}

// parseTicks adds up user, nice, system, idle, iowait, irq, softirq and steal.
// The guests' times behind them are already in user and nice. Stolen time went
// to other machines: it passed, and this one was neither busy nor idle.
func parseTicks(fields []string) (busy, total uint64) {
	const idle, iowait, steal, last = 3, 4, 7, 8
	if len(fields) <= idle {
		return 0, 0
	}
	for i, field := range fields[:min(len(fields), last)] {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil || n > math.MaxUint64-total {
			return 0, 0
		}
		total += n
		if i != idle && i != iowait && i != steal {
			busy += n
		}
	}
	return busy, total
}
