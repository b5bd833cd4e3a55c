package api

// System is the value of a system document: load, power and heat now. It moves
// every second while watched.
type System struct {
	// GPUUseRatio is the part of the time in which the GPU was busy.
	GPUUseRatio *float64 `json:"gpu_use_ratio,omitempty"`
	// GPULoadRatio is that use weighed by the clock: 1 is all the time at the highest.
	GPULoadRatio *float64 `json:"gpu_load_ratio,omitempty"`
	// GPUFrequencyHz is the GPU's mean clock while busy.
	GPUFrequencyHz *float64 `json:"gpu_frequency_hz,omitempty"`
	// GPUPowerWatts is the GPU's power.
	GPUPowerWatts *float64 `json:"gpu_power_watts,omitempty"`
	// GPUTemperatureCelsius is the hottest sensor of the GPU.
	GPUTemperatureCelsius *float64 `json:"gpu_temperature_celsius,omitempty"`
	// CPUUseRatio is the part of all cores' time in which they were busy.
	CPUUseRatio *float64 `json:"cpu_use_ratio,omitempty"`
	// CPUPowerWatts is the processor cores' power.
	CPUPowerWatts *float64 `json:"cpu_power_watts,omitempty"`
	// CPUTemperatureCelsius is the hottest sensor of the processor cores.
	CPUTemperatureCelsius *float64 `json:"cpu_temperature_celsius,omitempty"`
	// PackagePowerWatts is the whole chip's power.
	PackagePowerWatts *float64 `json:"package_power_watts,omitempty"`
	// SystemPowerWatts is the whole machine's power.
	SystemPowerWatts *float64 `json:"system_power_watts,omitempty"`
	// Temperatures are all sensors that have a name.
	Temperatures []Temperature `json:"temperatures,omitempty"`
	// ThermalState is the system's own verdict.
	ThermalState ThermalState `json:"thermal_state,omitempty"`
	// Fans are all fans; an empty list that is present means a machine without any.
	Fans []Fan `json:"fans,omitzero"`
	// PowerSource is what the machine runs on.
	PowerSource PowerSource `json:"power_source,omitempty"`
	// BatteryRatio is the battery's charge.
	BatteryRatio *float64 `json:"battery_ratio,omitempty"`
	// LowPowerMode says whether the system saves energy on request.
	LowPowerMode *bool `json:"low_power_mode,omitempty"`
}

// Temperature is one sensor's reading.
type Temperature struct {
	// Name is the sensor's, as the system gives it.
	Name string `json:"name"`
	// TemperatureCelsius is the reading.
	TemperatureCelsius float64 `json:"temperature_celsius"`
}

// Fan is one fan's reading.
type Fan struct {
	// Name is the fan's place or number.
	Name string `json:"name"`
	// SpeedHz is revolutions per second; screens show 60 times that as rpm.
	SpeedHz float64 `json:"speed_hz"`
	// MaxSpeedHz is the fastest it can turn.
	MaxSpeedHz *float64 `json:"max_speed_hz,omitempty"`
}

// Memory is the value of a memory document: the node's memory now. It moves
// every 0.5 s while watched, and at the system's pressure events always.
type Memory struct {
	// TotalBytes is the physical memory.
	TotalBytes *int64 `json:"total_bytes,omitempty"`
	// UsedBytes is what is neither free nor given back on demand.
	UsedBytes *int64 `json:"used_bytes,omitempty"`
	// AvailableBytes is what a new program could get without swapping.
	AvailableBytes *int64 `json:"available_bytes,omitempty"`
	// WiredBytes is what cannot be paged out.
	WiredBytes *int64 `json:"wired_bytes,omitempty"`
	// CompressedBytes is what the compressor occupies.
	CompressedBytes *int64 `json:"compressed_bytes,omitempty"`
	// SwapTotalBytes is the size of swap.
	SwapTotalBytes *int64 `json:"swap_total_bytes,omitempty"`
	// SwapUsedBytes is the part of swap in use.
	SwapUsedBytes *int64 `json:"swap_used_bytes,omitempty"`
	// Pressure is the system's own verdict.
	Pressure Pressure `json:"pressure,omitempty"`
	// PressureStallRatio is the part of the last 10 s in which some task waited for memory; Linux only.
	PressureStallRatio *float64 `json:"pressure_stall_ratio,omitempty"`
	// GPUWorkingSetBytes is the largest working set that the GPU recommends, or a discrete GPU's own memory; all RAM where MLX finds no GPU. Placement compares with it.
	GPUWorkingSetBytes *int64 `json:"gpu_working_set_bytes,omitempty"`
	// GPUUsedBytes is what all programs together hold for the GPU.
	GPUUsedBytes *int64 `json:"gpu_used_bytes,omitempty"`
}
