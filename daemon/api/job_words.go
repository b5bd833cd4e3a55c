package api

// Backend is how the ranks of a job talk.
type Backend string

const (
	// BackendAuto is jaccl where a mesh or ring is ready, else ring over Thunderbolt, else a refusal.
	BackendAuto Backend = "auto"
	// BackendJACCL is RDMA, every rank joined to every other.
	BackendJACCL Backend = "jaccl"
	// BackendJACCLRing is RDMA in a ring.
	BackendJACCLRing Backend = "jaccl-ring"
	// BackendRing is TCP in a ring.
	BackendRing Backend = "ring"
)

// Values lists the backends.
func (Backend) Values() []string {
	return words(BackendAuto, BackendJACCL, BackendJACCLRing, BackendRing)
}

// Valid reports whether the backend belongs to this version.
func (b Backend) Valid() bool { return known(b) }

// RDMA reports whether the backend needs it.
func (b Backend) RDMA() bool { return b == BackendJACCL || b == BackendJACCLRing }

// GPUShare is how a rank gets a node's GPU.
type GPUShare string

const (
	// GPUExclusive shares it with no other job.
	GPUExclusive GPUShare = "exclusive"
	// GPUShared shares it with other jobs that say so too.
	GPUShared GPUShare = "shared"
	// GPUNone does not use it.
	GPUNone GPUShare = "none"
)

// Values lists the ways.
func (GPUShare) Values() []string { return words(GPUExclusive, GPUShared, GPUNone) }

// Valid reports whether the way belongs to this version.
func (g GPUShare) Valid() bool { return known(g) }

// StdinTarget is which ranks read the client's input.
type StdinTarget string

const (
	// StdinAll gives every rank a copy.
	StdinAll StdinTarget = "all"
	// StdinRank0 gives it to rank 0 alone.
	StdinRank0 StdinTarget = "0"
	// StdinNone gives it to nobody; all read an empty input.
	StdinNone StdinTarget = "none"
)

// Values lists the choices.
func (StdinTarget) Values() []string { return words(StdinAll, StdinRank0, StdinNone) }

// Valid reports whether the choice belongs to this version.
func (s StdinTarget) Valid() bool { return known(s) }

// OutputPolicy is what becomes of a job's output when the job is deleted.
type OutputPolicy string

const (
	// OutputDelete removes it.
	OutputDelete OutputPolicy = "delete"
	// OutputKeep leaves it on the nodes until a person removes it.
	OutputKeep OutputPolicy = "keep"
)

// Values lists the policies.
func (OutputPolicy) Values() []string { return words(OutputDelete, OutputKeep) }

// Valid reports whether the policy belongs to this version.
func (o OutputPolicy) Valid() bool { return known(o) }

// Builtin is a program that comes with Fulmen.
type Builtin string

const (
	// BuiltinAllReduce measures all-reduce over a plan, by message size.
	BuiltinAllReduce Builtin = "allreduce"
	// BuiltinSendRecv measures sends between two ranks, by message size.
	BuiltinSendRecv Builtin = "sendrecv"
)

// Values lists the programs.
func (Builtin) Values() []string { return words(BuiltinAllReduce, BuiltinSendRecv) }

// Valid reports whether the program belongs to this version.
func (b Builtin) Valid() bool { return known(b) }
