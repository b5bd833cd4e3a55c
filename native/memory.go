package native

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
