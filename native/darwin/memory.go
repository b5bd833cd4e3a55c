package darwin

import (
	"cmp"
	"encoding/binary"
	"slices"

	"fulmen/native"
)

// memory reads the memory as far as sysctl tells: the total, swap, and the
// system's own verdict on pressure.
func memory(s sysctl) *native.Memory {
	var m native.Memory
	total, err := number(s, "hw.memsize")
	native.Put(&m.TotalBytes, &m.Unknown, "total_bytes", &total, reason("hw.memsize", err))
	swap(s, &m)
	pressure(s, &m)
	m.Unknown.Add("pressure_stall_ratio", native.ReasonNoOS.With("only Linux reports this"))
	workingSet(s, &m)
	return &m
}

// memory adds what the kernel's own count and the GPU's driver say.
func (m *machine) memory() *native.Memory {
	out := memory(m.kernel)
	setPages(m.meters, out)
	gpu, err := m.gpu("PerformanceStatistics")
	setRead(gpu, err, func(e *entry) bool {
		used, ok := listMap(e.properties["PerformanceStatistics"])["In use system memory"].(int64)
		if ok = ok && used >= 0; ok {
			out.GPUUsedBytes = new(used)
		}
		return ok
	}, &out.Unknown, "gpu_used_bytes")
	return out
}

// setPages makes bytes of the kernel's pages. Used is what cannot be dropped:
// purgeable pages and those of files can.
func setPages(meters meters, m *native.Memory) {
	pages, err := meters.Pages()
	fields := []string{"used_bytes", "wired_bytes", "compressed_bytes", "available_bytes"}
	why := native.Reason("")
	if err != nil {
		why = whyNot(err)
	}
	sum := func(plus, minus []string) *int64 {
		total := int64(0)
		for _, key := range slices.Concat(plus, minus) {
			n, ok := pages[key].(int64)
			if !ok || n < 0 {
				return nil
			}
			if slices.Contains(minus, key) {
				n = -n
			}
			total += n
		}
		size, ok := pages["page_size"].(int64)
		if !ok || total < 0 || size <= 0 {
			return nil
		}
		return new(total * size)
	}
	m.UsedBytes = sum([]string{"active", "inactive", "wired", "speculative", "compressor"}, []string{"purgeable", "external"})
	m.WiredBytes = sum([]string{"wired"}, nil)
	m.CompressedBytes = sum([]string{"compressor"}, nil)
	if m.UsedBytes != nil && m.TotalBytes != nil && *m.UsedBytes <= *m.TotalBytes {
		m.AvailableBytes = new(*m.TotalBytes - *m.UsedBytes)
	}
	for i, value := range []*int64{m.UsedBytes, m.WiredBytes, m.CompressedBytes, m.AvailableBytes} {
		if value == nil {
			m.Unknown.Add(fields[i], cmp.Or(why, native.ReasonSourceMalformed.With("host_statistics64")))
		}
	}
}

// workingSet is the limit that a person set for the GPU, in MiB; 0 is the system's
// default, which Metal alone tells (recommendedMaxWorkingSetSize): the daemon has it
// from the worker. What is said of it, 70 to 75 % of the memory, is a rule of thumb
// and no figure of this machine: it stands in the reason, and nothing is computed
// from it.
func workingSet(s sysctl, m *native.Memory) {
	const name = "iogpu.wired_limit_mb"
	limit, err := number(s, name)
	switch {
	case err != nil:
		m.Unknown.Add("gpu_working_set_bytes", reason(name, err))
	case limit <= 0 || limit > 1<<30:
		m.Unknown.Add("gpu_working_set_bytes", native.ReasonNoPlatform.With("only programs that use Metal can read the default; it is said to be 70 to 75 % of the memory"))
	default:
		m.GPUWorkingSetBytes = new(limit << 20)
	}
}

// swap reads vm.swapusage, a struct xsw_usage: total, available and used in
// bytes, 8 bytes each, then the page size and a flag.
func swap(s sysctl, m *native.Memory) {
	raw, err := s.Raw("vm.swapusage")
	why := native.ReasonSourceMalformed.With("vm.swapusage")
	if err != nil {
		why = reason("vm.swapusage", err)
	}
	if err != nil || len(raw) < 24 {
		m.Unknown.Add("swap_total_bytes", why)
		m.Unknown.Add("swap_used_bytes", why)
		return
	}
	total, used := int64(binary.LittleEndian.Uint64(raw)), int64(binary.LittleEndian.Uint64(raw[16:]))
	m.SwapTotalBytes, m.SwapUsedBytes = &total, &used
}

// pressure reads the level: 1 normal, 2 warning, 4 critical.
func pressure(s sysctl, m *native.Memory) {
	const name = "kern.memorystatus_vm_pressure_level"
	level, err := number(s, name)
	if err != nil {
		m.Unknown.Add("pressure", reason(name, err))
		return
	}
	m.Pressure = map[int64]native.Pressure{1: native.PressureNormal, 2: native.PressureWarning, 4: native.PressureCritical}[level]
	if m.Pressure == "" {
		m.Unknown.Add("pressure", native.ReasonSourceMalformed.With(name))
	}
}
