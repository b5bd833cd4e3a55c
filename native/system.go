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

	CPUUseRatio   *float64 `json:"cpu_use_ratio,omitzero"` // 0 to 1 over all cores
	GPUUseRatio   *float64 `json:"gpu_use_ratio,omitzero"` // 0 to 1
	GPUHz         *int64   `json:"gpu_hz,omitzero"`        // while it was busy
	CPUWatts      *float64 `json:"cpu_watts,omitzero"`
	GPUWatts      *float64 `json:"gpu_watts,omitzero"`
	PackageWatts  *float64 `json:"package_watts,omitzero"`  // the chip: CPU, GPU, memory, neural engine
	MachineWatts  *float64 `json:"machine_watts,omitzero"`  // the whole machine
	BatteryRatio  *float64 `json:"battery_ratio,omitzero"`  // 0 to 1, where there is a battery
	LowPowerMode  *bool    `json:"low_power_mode,omitzero"` // chosen by a person, slows the GPU
	HighPowerMode *bool    `json:"high_power_mode,omitzero"`

	Thermal      ThermalState  `json:"thermal,omitzero"`
	Power        PowerSource   `json:"power,omitzero"`
	Temperatures []Temperature `json:"temperatures,omitzero"`
	Fans         []Fan         `json:"fans,omitzero"` // empty, not absent, on a machine without fans

	Unknown Reasons `json:"unknown,omitzero"`
}

// Temperature is the mean of one group of sensors.
type Temperature struct {
	Name    string  `json:"name"` // "cpu", "gpu", else as the system names the sensor
	Celsius float64 `json:"celsius"`
}

// Fan is one fan's speed in revolutions per minute.
type Fan struct {
	Name   string   `json:"name"`
	RPM    *float64 `json:"rpm,omitzero"`
	MaxRPM *float64 `json:"max_rpm,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}
