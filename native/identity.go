package native

// Identity is who and what the machine is. It changes rarely: a new name, a
// system update.
type Identity struct {
	// Name is what its owner calls it ("Anna's Mac Studio"); any text.
	Name string `json:"name,omitzero"`
	// HostName is the name it answers to on the local network, without domain.
	HostName string `json:"host_name,omitzero"`
	// Model is the maker's model identifier ("Mac15,14").
	Model string `json:"model,omitzero"`
	// ModelName is the model as shops write it ("Mac Studio (2025)").
	ModelName string `json:"model_name,omitzero"`
	// Chip is the processor's marketing name ("Apple M3 Ultra").
	Chip string `json:"chip,omitzero"`
	// OS is "macos" or "linux"; OSVersion as the system prints it ("26.2", "12").
	OS        string `json:"os,omitzero"`
	OSVersion string `json:"os_version,omitzero"`
	// OSBuild is the exact build ("25C56"; on Linux the kernel release).
	OSBuild string `json:"os_build,omitzero"`
	// Arch is "arm64" or "amd64".
	Arch string `json:"arch,omitzero"`
	// CPUCores counts the cores that the system schedules on, of all kinds.
	CPUCores *int `json:"cpu_cores,omitzero"`
	// CoreLevels splits them, fastest kind first, where the system tells.
	CoreLevels []CoreLevel `json:"core_levels,omitzero"`
	// GPUCores counts the cores of the GPU that MLX would use.
	GPUCores *int `json:"gpu_cores,omitzero"`
	// UnifiedMemory is true when CPU and GPU share one memory.
	UnifiedMemory *bool `json:"unified_memory,omitzero"`
	// BootID changes with every start of the system and with nothing else.
	BootID string `json:"boot_id,omitzero"`
	// HardwareID names this very machine (macOS: the platform UUID; Linux:
	// machine-id). It ties the node's key to the machine, stays on it, and is
	// never published.
	HardwareID string `json:"hardware_id,omitzero"`

	Unknown Reasons `json:"unknown,omitzero"`
}

// CoreLevel is one kind of CPU core.
type CoreLevel struct {
	Name  string `json:"name"` // as the system names it: "Super", "Performance", "Efficiency"
	Cores int    `json:"cores"`
}
