package native

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

// Fan is one fan's speed in revolutions per second.
type Fan struct {
	Name       string   `json:"name"`
	SpeedHz    *float64 `json:"speed_hz,omitzero"`
	MaxSpeedHz *float64 `json:"max_speed_hz,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}
