package api

// Limits that both sides of a connection know.
const (
	// MaxMessageBytes is the largest message read from a client or sent to one.
	MaxMessageBytes = 1 << 20
	// MaxBatch is the most requests in one batch.
	MaxBatch = 32
	// MaxValueBytes is the largest value of a document, so that several fit a message.
	MaxValueBytes = 256 << 10
	// MaxSpecBytes is the largest spec of a job, so that it fits its document with a plan.
	MaxSpecBytes = 64 << 10
	// MaxPairingBytes is the most that an unpaired peer may send in all.
	MaxPairingBytes = 64 << 10
	// MaxHalfOpen is the most connections at once whose other side has not proved that
	// it is a member, and the most that pair. At 20 new ones a second that stay silent
	// the oldest is ended after 3 s: a handshake over the slowest network is done by
	// then, and each takes some 50 kB.
	MaxHalfOpen = 64
	// MaxCodeTries is how many wrong codes end a pairing code, from all addresses together.
	MaxCodeTries = 3
	// MaxPaths is the most verified paths used to one peer.
	MaxPaths = 3
	// MaxSideChannelBytes is the most that a side channel carries, far above what an initialisation needs.
	MaxSideChannelBytes = 1 << 20
	// MaxMeshRanks is the most ranks of a JACCL mesh.
	MaxMeshRanks = 8
	// MaxRanksPerNode is the most ranks of a job on one node.
	MaxRanksPerNode = 32
	// MaxExactNodes is the most nodes for which a plan is proven best.
	MaxExactNodes = 16
	// MaxStarts is the most starts that a spec may ask for before all ranks have joined.
	MaxStarts = 64
	// DefaultStarts is how many there are where it asks for none, within some 30 s.
	DefaultStarts = 8
	// DefaultCountedAttempts is how many of those may fail for what is the program's own, or took all its time.
	DefaultCountedAttempts = 3
	// MinRDMABitsPerS is what a cable must exceed for RDMA.
	MinRDMABitsPerS = 40_000_000_000
	// AuditPage is the most entries of the audit in one answer.
	AuditPage = 500
	// AuditKept is the most entries of the audit that a node keeps.
	AuditKept = 10_000
	// AuditKeptPerCaller is the most of them for calls of one node, or of one account of this Mac.
	AuditKeptPerCaller = 1000
	// HistoryLength is how many earlier results a profile keeps.
	HistoryLength = 32
	// GPUBusyRatio is the use of the GPU by others above which jobs and measurements wait: what a program that computes takes, and a screen does not.
	GPUBusyRatio = 0.5
	// LinkDropRatio is how far below its median a wired link must fall, LinkDropRuns times in a row, to be reported.
	LinkDropRatio = 0.2
	// LinkDropRuns is that number of times.
	LinkDropRuns = 3
)
