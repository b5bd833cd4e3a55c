package api

// GPUProfile is the value of a gpu-profile document: what the node's GPU was
// measured to give, by MLX in a worker. On a node without a GPU it is the CPU,
// and Device says so.
type GPUProfile struct {
	// MeasuredAt is when the measurement ended.
	MeasuredAt Time `json:"measured_at,omitzero"`
	// Device is what was measured.
	Device MLXDevice `json:"device,omitempty"`
	// DeviceName is its name.
	DeviceName string `json:"device_name,omitempty"`
	// FP16TFLOPS is the best fp16 square matrix product, in 10^12 operations a second.
	FP16TFLOPS *float64 `json:"fp16_tflops,omitempty"`
	// FP16Timing is how the runs of FP16TFLOPS agreed.
	FP16Timing *Timing `json:"fp16_timing,omitempty"`
	// FP32TFLOPS is the same in fp32, where it was measured.
	FP32TFLOPS *float64 `json:"fp32_tflops,omitempty"`
	// FP32Timing is how the runs of FP32TFLOPS agreed.
	FP32Timing *Timing `json:"fp32_timing,omitempty"`
	// MatrixSize is the side of the square matrices.
	MatrixSize int `json:"matrix_size,omitempty"`
	// MemoryBytesPerS is the best streaming sum over a buffer well past the caches.
	MemoryBytesPerS *int64 `json:"memory_bytes_per_s,omitempty"`
	// MemoryTiming is how the runs of MemoryBytesPerS agreed.
	MemoryTiming *Timing `json:"memory_timing,omitempty"`
	// BufferBytes is the size of that buffer.
	BufferBytes int64 `json:"buffer_bytes,omitempty"`
	// TookS is how long the whole measurement took.
	TookS float64 `json:"took_s,omitempty"`
	// Conditions are the circumstances.
	Conditions MeasureConditions `json:"conditions"`
	// Failure is the last failure, if it is newer than MeasuredAt.
	Failure *MeasureFailure `json:"failure,omitempty"`
	// Waiting is why it is not measured now, though it is due.
	Waiting *MeasureWait `json:"waiting,omitempty"`
	// Best is the best of all results in each number.
	Best *GPUResult `json:"best,omitempty"`
	// Median is the middle of all results in each number.
	Median *GPUResult `json:"median,omitempty"`
	// History are earlier results, the newest first, at most HistoryLength.
	History []GPUResult `json:"history,omitempty"`
}

// GPUResult is one earlier measurement of a GPU, or a summary of several.
type GPUResult struct {
	// MeasuredAt is when it ended; of a summary, when the newest did.
	MeasuredAt Time `json:"measured_at"`
	// FP16TFLOPS is as in GPUProfile.
	FP16TFLOPS float64 `json:"fp16_tflops"`
	// MemoryBytesPerS is as in GPUProfile.
	MemoryBytesPerS int64 `json:"memory_bytes_per_s"`
	// Conditions are the circumstances; of a summary, those of the newest.
	Conditions MeasureConditions `json:"conditions"`
}

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
