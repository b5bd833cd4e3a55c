package native

import "golang.org/x/sys/unix"

// ThermalState is how much the system slows itself down because of heat.
type ThermalState string

// The states, in the terms of macOS.
const (
	ThermalNominal  ThermalState = "nominal"
	ThermalFair     ThermalState = "fair"
	ThermalSerious  ThermalState = "serious"
	ThermalCritical ThermalState = "critical"
)

// PowerSource is what the machine runs on.
type PowerSource string

// The sources.
const (
	PowerAC      PowerSource = "ac"
	PowerBattery PowerSource = "battery"
	PowerUPS     PowerSource = "ups"
)

// System is the machine's load, power and heat. Uses, frequencies and powers
// are means over IntervalS, the time since this area was last read; the first
// reading has none and says [ReasonNotYetRead]. Nothing here is sampled unless
// somebody reads it.
type System struct {
	// IntervalS is the time in seconds that the means below cover.
	IntervalS *float64 `json:"interval_s,omitzero"`

	CPUUseRatio *float64 `json:"cpu_use_ratio,omitzero"` // 0 to 1 over all cores
	GPUUseRatio *float64 `json:"gpu_use_ratio,omitzero"` // 0 to 1
	// GPULoadRatio is the use weighed by the clock: 1 where the GPU was busy all the
	// time at its highest clock. A screen keeps it busy at the lowest.
	GPULoadRatio *float64 `json:"gpu_load_ratio,omitzero"`
	// GPUFrequencyHz is the GPU's mean clock while it was busy.
	GPUFrequencyHz *float64 `json:"gpu_frequency_hz,omitzero"`
	CPUPowerWatts  *float64 `json:"cpu_power_watts,omitzero"`
	GPUPowerWatts  *float64 `json:"gpu_power_watts,omitzero"`
	// PackagePowerWatts is the chip's: CPU, GPU, memory, neural engine.
	PackagePowerWatts *float64 `json:"package_power_watts,omitzero"`
	// SystemPowerWatts is the whole machine's.
	SystemPowerWatts *float64 `json:"system_power_watts,omitzero"`
	// The hottest sensor of each.
	CPUTemperatureCelsius *float64 `json:"cpu_temperature_celsius,omitzero"`
	GPUTemperatureCelsius *float64 `json:"gpu_temperature_celsius,omitzero"`
	// Temperatures are all sensors that have a name.
	Temperatures []Temperature `json:"temperatures,omitzero"`
	// Fans is empty, not absent, on a machine without fans.
	Fans         []Fan        `json:"fans,omitzero"`
	ThermalState ThermalState `json:"thermal_state,omitzero"`
	PowerSource  PowerSource  `json:"power_source,omitzero"`
	// BatteryRatio is the charge (0 to 1) where there is a battery.
	BatteryRatio *float64 `json:"battery_ratio,omitzero"`
	// LowPowerMode is chosen by a person and slows the GPU.
	LowPowerMode *bool `json:"low_power_mode,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// Temperature is one sensor's reading.
type Temperature struct {
	Name               string  `json:"name"` // as the system gives it
	TemperatureCelsius float64 `json:"temperature_celsius"`
}

// AddTemperature adds a sensor's reading. Of those of a processor or a GPU the hottest
// counts as its temperature.
func (s *System) AddTemperature(name string, celsius float64, isCPU, isGPU bool) {
	s.Temperatures = append(s.Temperatures, Temperature{name, celsius})
	hottest := func(of **float64) {
		if *of == nil || **of < celsius {
			*of = &celsius
		}
	}
	if isCPU {
		hottest(&s.CPUTemperatureCelsius)
	}
	if isGPU {
		hottest(&s.GPUTemperatureCelsius)
	}
}

// Fan is one fan's speed in revolutions per second.
type Fan struct {
	Name       string   `json:"name"`
	SpeedHz    *float64 `json:"speed_hz,omitzero"`
	MaxSpeedHz *float64 `json:"max_speed_hz,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// FreeBytes is the room on a path's disk, in bytes, for whoever asks (statfs(2)).
func FreeBytes(path string) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(path, &disk); err != nil {
		return 0, err
	}
	return int64(disk.Bavail) * int64(disk.Bsize), nil
}

// Identity is who and what the machine is. It changes rarely: a new name, a
// system update.
type Identity struct {
	// Name is what its owner calls it ("Ada's Mac Studio"); any text.
	Name string `json:"name,omitzero"`
	// HostName is the name it answers to on the local network, without domain.
	HostName string `json:"host_name,omitzero"`
	// Model is the maker's model identifier ("Mac15,14").
	Model string `json:"model,omitzero"`
	// ModelName is the model as shops write it ("Mac Studio (2025)").
	ModelName string `json:"model_name,omitzero"`
	// Chip is the processor's marketing name ("Apple M3 Ultra").
	Chip string `json:"chip,omitzero"`
	// OSName is the system's name ("macOS", "Debian GNU/Linux"), OSVersion as
	// it prints it ("26.2", "12").
	OSName    string `json:"os_name,omitzero"`
	OSVersion string `json:"os_version,omitzero"`
	// OSBuild is the exact build ("25C56"; on Linux the kernel release).
	OSBuild string `json:"os_build,omitzero"`
	// Architecture is as Go names it: "arm64", "amd64".
	Architecture string `json:"architecture,omitzero"`
	// CPUCores counts the cores that the system schedules on, of all kinds.
	CPUCores *int `json:"cpu_cores,omitzero"`
	// CPUPerformanceCores counts the fastest kind of them, CPUEfficiencyCores
	// all slower kinds.
	CPUPerformanceCores *int `json:"cpu_performance_cores,omitzero"`
	CPUEfficiencyCores  *int `json:"cpu_efficiency_cores,omitzero"`
	// GPUName is the GPU's name where it is not the chip's.
	GPUName string `json:"gpu_name,omitzero" native:"optional"`
	// GPUCores counts the cores of the GPU that MLX would use.
	GPUCores *int `json:"gpu_cores,omitzero"`
	// GPUMemory is the memory in which MLX's GPU computes.
	GPUMemory GPUMemory `json:"gpu_memory,omitzero"`
	// BootedAt is when the system started, by the wall clock of then.
	BootedAt Timestamp `json:"booted_at,omitzero"`
	// BootID changes with every start of the system and with nothing else.
	BootID string `json:"boot_id,omitzero"`
	// HardwareID names this very machine, as "source:value" (macOS: the platform
	// UUID; Linux: the firmware's UUID where it can be read, else machine-id). It ties the node's key to the machine, stays on it, and is
	// never published.
	HardwareID string `json:"hardware_id,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// GPUMemory is the memory in which a machine's GPU computes.
type GPUMemory string

// The kinds. A Mac's GPU shares the memory; a discrete GPU has its own; without a GPU
// programs compute in that of the CPU.
const (
	GPUMemoryUnified   GPUMemory = "unified"
	GPUMemoryDedicated GPUMemory = "dedicated"
	GPUMemoryNone      GPUMemory = "none"
)

// Pressure is how short of memory the system says it is.
type Pressure string

// The levels, in the terms of macOS. Linux derives them from its pressure-stall
// information, and the platform's own documentation says how.
const (
	PressureNormal   Pressure = "normal"
	PressureWarning  Pressure = "warning"
	PressureCritical Pressure = "critical"
)

// Memory is how the machine's memory is used.
type Memory struct {
	TotalBytes *int64 `json:"total_bytes,omitzero"`
	// UsedBytes is what programs and the kernel hold and cannot be dropped.
	UsedBytes *int64 `json:"used_bytes,omitzero"`
	// WiredBytes can be neither moved nor compressed; a GPU's buffers are here.
	WiredBytes *int64 `json:"wired_bytes,omitzero"`
	// CompressedBytes is the memory that the compressor occupies.
	CompressedBytes *int64 `json:"compressed_bytes,omitzero"`
	// AvailableBytes is what a new program could get without swapping.
	AvailableBytes *int64 `json:"available_bytes,omitzero"`
	SwapTotalBytes *int64 `json:"swap_total_bytes,omitzero"`
	SwapUsedBytes  *int64 `json:"swap_used_bytes,omitzero"`

	Pressure Pressure `json:"pressure,omitzero"`

	// PressureStallRatio is the part of the last 10 s in which some task waited
	// for memory (0 to 1); only Linux knows it.
	PressureStallRatio *float64 `json:"pressure_stall_ratio,omitzero"`

	// GPUWorkingSetBytes is how much the system recommends a GPU program to
	// hold at most; placement compares with this, not with the total.
	GPUWorkingSetBytes *int64 `json:"gpu_working_set_bytes,omitzero"`
	// GPUUsedBytes is what GPU programs hold now.
	GPUUsedBytes *int64 `json:"gpu_used_bytes,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}
