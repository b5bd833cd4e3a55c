package api

// MeasureConditions are the circumstances of a measurement: numbers taken
// under different ones are not compared.
type MeasureConditions struct {
	// OSBuild is the system's build.
	OSBuild string `json:"os_build,omitempty"`
	// MLXVersion is the version of MLX that measured.
	MLXVersion string `json:"mlx_version,omitempty"`
	// BLAS is the library behind matrix products on the CPU.
	BLAS string `json:"blas,omitempty"`
	// ThermalState is the worst during the measurement.
	ThermalState ThermalState `json:"thermal_state,omitempty"`
	// PowerSource is what the machine ran on.
	PowerSource PowerSource `json:"power_source,omitempty"`
	// LowPowerMode says whether the system saved energy on request.
	LowPowerMode *bool `json:"low_power_mode,omitempty"`
}

// Timing is how well repeated runs of one measurement agree.
type Timing struct {
	// Runs counts the timed runs.
	Runs int `json:"runs"`
	// WarmUpS is how long it ran before, until the clock had settled.
	WarmUpS float64 `json:"warm_up_s,omitempty"`
	// SpreadRatio is (median - best) / best of the timed runs: 0 where all agree.
	SpreadRatio float64 `json:"spread_ratio"`
}

// MeasureWait is why something is not measured now that is due.
type MeasureWait struct {
	// Since is since when.
	Since Time `json:"since"`
	// Reason is why.
	Reason Reason `json:"reason"`
	// Message says on whom or what it waits, in words.
	Message string `json:"message,omitempty"`
}

// MeasureFailure is the last time a measurement failed or could not start.
type MeasureFailure struct {
	// At is when.
	At Time `json:"at"`
	// Reason is why.
	Reason Reason `json:"reason"`
	// Message is one sentence for a person.
	Message string `json:"message"`
	// Retries counts the failures in a row; each makes the next try wait longer.
	Retries int `json:"retries"`
}
