package linux

import (
	"errors"
	"fmt"
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
	const unkinded = "sysfs tells no kinds of core apart"
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
