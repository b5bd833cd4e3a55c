package native

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
	// UnifiedMemory is true when CPU and GPU share one memory.
	UnifiedMemory *bool `json:"unified_memory,omitzero"`
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
