package darwin

import (
	"encoding/binary"

	"fulmen/native"
)

// memory reads the memory as far as sysctl tells: the total, swap, and the
// system's own verdict on pressure.
func memory(s sysctl) *native.Memory {
	var m native.Memory
	if total, err := number(s, "hw.memsize"); err != nil {
		m.Unknown.Add("total_bytes", reason("hw.memsize", err))
	} else {
		m.TotalBytes = &total
	}
	swap(s, &m)
	pressure(s, &m)
	m.Unknown.Add("pressure_stall_ratio", native.ReasonNoOS.With("Linux tells this"))
	for _, field := range []string{"used_bytes", "wired_bytes", "compressed_bytes", "available_bytes", "gpu_working_set_bytes", "gpu_used_bytes"} {
		m.Unknown.Add(field, later)
	}
	return &m
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
