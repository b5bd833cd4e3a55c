package api

// Identity is the value of an identity document: who a node is. It changes
// with a rename, an update of the system or of MLX, and hardly otherwise.
type Identity struct {
	// PublicKey is the node's Ed25519 key, of which the node id is made.
	PublicKey []byte `json:"public_key"`
	// Name is the friendly name, as the person gave it; for people only.
	Name string `json:"name"`
	// ShortName is the slug of Name, made unique in the cluster by -2, -3, ...
	ShortName string `json:"short_name"`
	// Platform is the system's family.
	Platform Platform `json:"platform"`
	// Architecture is the processor's, as Go names it, such as arm64.
	Architecture string `json:"architecture"`
	// Model is the maker's identifier, such as Mac15,14.
	Model string `json:"model,omitempty"`
	// ModelName is what people call the model, such as Mac Studio.
	ModelName string `json:"model_name,omitempty"`
	// Chip is the processor's name, such as Apple M3 Ultra.
	Chip string `json:"chip,omitempty"`
	// OSName is the system's name, such as macOS.
	OSName string `json:"os_name,omitempty"`
	// OSVersion is the system's version, such as 26.2.
	OSVersion string `json:"os_version,omitempty"`
	// OSBuild is the system's build, such as 25C56.
	OSBuild string `json:"os_build,omitempty"`
	// CPUCores counts all cores of the processor.
	CPUCores *int `json:"cpu_cores,omitempty"`
	// CPUPerformanceCores counts the fastest kind of core.
	CPUPerformanceCores *int `json:"cpu_performance_cores,omitempty"`
	// CPUEfficiencyCores counts all slower kinds of core.
	CPUEfficiencyCores *int `json:"cpu_efficiency_cores,omitempty"`
	// GPUName is the GPU's name where it is not the chip's.
	GPUName string `json:"gpu_name,omitempty"`
	// GPUCores counts the GPU's cores.
	GPUCores *int `json:"gpu_cores,omitempty"`
	// UnifiedMemory says whether CPU and GPU share one memory.
	UnifiedMemory *bool `json:"unified_memory,omitempty"`
	// MLXVersion is the version of the MLX that Fulmen itself uses.
	MLXVersion string `json:"mlx_version,omitempty"`
	// MLXBackends are the distributed backends that this MLX has.
	MLXBackends []MLXBackend `json:"mlx_backends,omitempty"`
	// MLXDevices are the kinds of device that this MLX computes on.
	MLXDevices []MLXDevice `json:"mlx_devices,omitempty"`
	// FulmenVersion is the version of the daemon.
	FulmenVersion string `json:"fulmen_version"`
	// Protocol is the newest peer protocol that the daemon speaks; it also speaks the one before.
	Protocol int `json:"protocol"`
	// BootedAt is when the system started.
	BootedAt Time `json:"booted_at,omitzero"`
	// StartedAt is when the daemon started.
	StartedAt Time `json:"started_at,omitzero"`
}

// Platform is a family of systems.
type Platform string

const (
	// PlatformDarwin is macOS.
	PlatformDarwin Platform = "darwin"
	// PlatformLinux is Linux.
	PlatformLinux Platform = "linux"
)

// Values lists the platforms.
func (Platform) Values() []string { return words(PlatformDarwin, PlatformLinux) }

// Valid reports whether the platform belongs to this version.
func (p Platform) Valid() bool { return known(p) }

// MLXBackend is a distributed backend of MLX, by MLX's own name.
type MLXBackend string

const (
	// MLXBackendJACCL is collectives over RDMA.
	MLXBackendJACCL MLXBackend = "jaccl"
	// MLXBackendRing is collectives over TCP in a ring.
	MLXBackendRing MLXBackend = "ring"
	// MLXBackendMPI is collectives over an MPI library.
	MLXBackendMPI MLXBackend = "mpi"
	// MLXBackendNCCL is collectives over NVIDIA's library.
	MLXBackendNCCL MLXBackend = "nccl"
)

// Values lists the backends.
func (MLXBackend) Values() []string {
	return words(MLXBackendJACCL, MLXBackendRing, MLXBackendMPI, MLXBackendNCCL)
}

// Valid reports whether the backend belongs to this version.
func (b MLXBackend) Valid() bool { return known(b) }

// MLXDevice is a kind of device that MLX computes on.
type MLXDevice string

const (
	// MLXDeviceMetal is a GPU by Metal.
	MLXDeviceMetal MLXDevice = "metal"
	// MLXDeviceCUDA is a GPU by CUDA.
	MLXDeviceCUDA MLXDevice = "cuda"
	// MLXDeviceCPU is the processor.
	MLXDeviceCPU MLXDevice = "cpu"
)

// Values lists the kinds of device.
func (MLXDevice) Values() []string { return words(MLXDeviceMetal, MLXDeviceCUDA, MLXDeviceCPU) }

// Valid reports whether the kind belongs to this version.
func (d MLXDevice) Valid() bool { return known(d) }
