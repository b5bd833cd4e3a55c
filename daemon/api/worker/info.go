package worker

// Info is the result of [CommandInfo]: what MLX finds on this machine. A
// value that MLX does not tell is absent.
type Info struct {
	Protocol int `json:"protocol"`
	// MLXVersion is the library's, such as "0.32.4".
	MLXVersion string `json:"mlx_version"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	// CPUs is the number of processors that this process may use.
	CPUs int `json:"cpus"`
	// Backends are those compiled into the library and usable here: cpu,
	// metal, cuda.
	Backends []string `json:"backends"`
	// Distributed are the usable communication backends: ring, jaccl, mpi,
	// nccl.
	Distributed []string `json:"distributed"`
	BLAS        BLAS     `json:"blas"`
	// Devices are MLX's devices, the default one first.
	Devices []Device `json:"devices"`
}

// BLAS is the linear algebra library that MLX calls on the CPU.
type BLAS struct {
	// Name is openblas, accelerate, or reference for the wheel's own.
	Name string `json:"name"`
	// Path is the library that the loader bound, where it can be known.
	Path string `json:"path,omitempty"`
	// Config is what the library says of itself.
	Config  string `json:"config,omitempty"`
	Threads int    `json:"threads,omitempty"`
}

// Device is one of MLX's devices.
type Device struct {
	// Type is gpu or cpu; Index counts the devices of a type from 0.
	Type  string `json:"type"`
	Index int    `json:"index"`
	Name  string `json:"name,omitempty"`
	// Architecture is MLX's word for it, such as applegpu_g15d or x86_64.
	Architecture string `json:"architecture,omitempty"`
	MemoryBytes  uint64 `json:"memory_bytes,omitempty"`
	// MaxBufferBytes is the largest single allocation.
	MaxBufferBytes uint64 `json:"max_buffer_bytes,omitempty"`
	// WorkingSetBytes is how much the GPU may use without being slowed
	// (recommendedMaxWorkingSetSize in Metal).
	WorkingSetBytes uint64 `json:"working_set_bytes,omitempty"`
}

// Hello is the result of [CommandHello]: the group as this rank sees it.
type Hello struct {
	Backend string `json:"backend"`
	Rank    int    `json:"rank"`
	Size    int    `json:"size"`
	// Ranks are all members by rank, as each told of itself.
	Ranks []Member `json:"ranks"`
}

// Member is what one rank tells the others.
type Member struct {
	Rank int    `json:"rank"`
	Host string `json:"host"`
	PID  int    `json:"pid"`
}
