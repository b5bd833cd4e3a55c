package api

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
	// GPUWorkingSetBytes is the largest working set that the GPU recommends; all memory where MLX finds no GPU. Placement compares with it.
	GPUWorkingSetBytes *int64 `json:"gpu_working_set_bytes,omitempty"`
	// GPUUsedBytes is what all programs together hold for the GPU.
	GPUUsedBytes *int64 `json:"gpu_used_bytes,omitempty"`
}

// Pressure is how short of memory a system says it is.
type Pressure string

const (
	// PressureNormal is no shortage.
	PressureNormal Pressure = "normal"
	// PressureWarning is memory being taken back from programs.
	PressureWarning Pressure = "warning"
	// PressureCritical is programs about to be ended.
	PressureCritical Pressure = "critical"
)

// Values lists the levels, from the best to the worst.
func (Pressure) Values() []string { return words(PressureNormal, PressureWarning, PressureCritical) }

// Valid reports whether the level belongs to this version.
func (p Pressure) Valid() bool { return known(p) }
