package api

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Rank is the value of a rank document, written by the node it runs on: one
// process of a job's attempt.
type Rank struct {
	// Job is the job.
	Job JobID `json:"job"`
	// Attempt is the attempt, from 1.
	Attempt int `json:"attempt"`
	// Rank is the number, from 0.
	Rank int `json:"rank"`
	// Epoch is the home's epoch under which it was started; a lower one is refused.
	Epoch uint64 `json:"epoch"`
	// SpecSHA256 is the spec that the node checked.
	SpecSHA256 string `json:"spec_sha256"`
	// Phase is where it is.
	Phase RankPhase `json:"phase"`
	// PhaseSince is when it got there.
	PhaseSince Time `json:"phase_since"`
	// Reason is why it is there, where that needs saying.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
	// PreparedAt is when its node was ready to start it, of a rank that is started with the others only: one whose
	// program has Sync or Prepare, or that may copy its model. Until they are all ready the phase stays preparing.
	PreparedAt Time `json:"prepared_at,omitzero"`
	// Fetching is how far the copy of its model is, while it is preparing.
	Fetching *RankFetch `json:"fetching,omitempty"`
	// PID is the program's process id.
	PID int `json:"pid,omitempty"`
	// Handshake is the progress of joining the group; absent for a ring and of a job with
	// allow_solo.
	Handshake *Handshake `json:"handshake,omitempty"`
	// SpawnedAt is when the program was started.
	SpawnedAt Time `json:"spawned_at,omitzero"`
	// EndedAt is when it ended.
	EndedAt Time `json:"ended_at,omitzero"`
	// Exit is how it ended; absent while it runs, and where that is not known.
	Exit *Exit `json:"exit,omitempty"`
	// Usage is what it used.
	Usage *Usage `json:"usage,omitempty"`
	// Output is how much it printed.
	Output *OutputSize `json:"output,omitempty"`
	// Versions are those that the node found once the command that prepares it was
	// through, as in [Preflight]; absent of a job that has none.
	Versions map[string]string `json:"versions,omitempty"`
	// MLX is the program's MLX, found with the versions.
	MLX *ProgramMLX `json:"mlx,omitempty"`
	// SilentSince is since when its RDMA devices have carried nothing, once that is a minute.
	// Unknown where the system does not count what a device carries, as macOS does not.
	SilentSince Time `json:"silent_since,omitzero"`
	// ReadyAt is since when its readiness probe passes; absent while it does not, and where there is none.
	ReadyAt Time `json:"ready_at,omitzero"`
	// NotReady is what its probe said last, while it does not pass.
	NotReady string `json:"not_ready,omitempty"`
	// IdleSince is since when nobody has asked anything of what it serves through Fulmen, once that is some
	// seconds; absent while somebody does, and where that is not followed.
	IdleSince Time `json:"idle_since,omitzero"`
	// Ports are the published ports on which the program listens now.
	Ports []int `json:"ports,omitempty"`
}

// RankFetch is how far the copy of a rank's model is.
type RankFetch struct {
	// From is the node that has the model.
	From NodeID `json:"from"`
	// DoneBytes is what is in place.
	DoneBytes int64 `json:"done_bytes"`
	// TotalBytes is what there is.
	TotalBytes int64 `json:"total_bytes"`
	// LeftS is how long the rest takes at the present rate; absent while that is not known.
	LeftS *float64 `json:"left_s,omitempty"`
}

// Handshake is how far a rank has come in joining its group.
type Handshake struct {
	// State is where it is.
	State HandshakeState `json:"state"`
	// Missing are the ranks that the others still wait for, by what has come: those that
	// have not connected, else those that owe the next bytes; on rank 0 only.
	Missing []int `json:"missing,omitempty"`
	// Severed says that the side channel was closed on the rank before the rank closed
	// it: what it complains of then came of another rank's end, or of the network's.
	Severed bool `json:"severed,omitempty"`
	// CarriedBytes is what its side channel has carried.
	CarriedBytes int64 `json:"carried_bytes"`
}

// Exit is how a process ended.
type Exit struct {
	// Code is its exit code; absent where a signal ended it.
	Code *int `json:"code,omitempty"`
	// Signal is the number of the signal that ended it.
	Signal int `json:"signal,omitempty"`
	// OutOfMemory says that the system ended it for its use of memory.
	OutOfMemory bool `json:"out_of_memory,omitempty"`
}

// Usage is what a process and its children used, as the system counts it at the end.
type Usage struct {
	// UserS is processor time in the program.
	UserS float64 `json:"user_s"`
	// SystemS is processor time in the system.
	SystemS float64 `json:"system_s"`
	// MaxResidentBytes is the most memory held at once.
	MaxResidentBytes int64 `json:"max_resident_bytes"`
}

// OutputSize is how much a rank printed and how much of it is kept.
type OutputSize struct {
	// OutBytes is what came on standard output.
	OutBytes int64 `json:"out_bytes"`
	// ErrBytes is what came on standard error.
	ErrBytes int64 `json:"err_bytes"`
	// DroppedBytes is what was dropped between the head and the tail that are kept.
	DroppedBytes int64 `json:"dropped_bytes,omitempty"`
}

// Grant is the value of a grant document: what a node lends to one rank or one
// measurement. The node alone decides and takes back.
type Grant struct {
	// State is whether it holds.
	State GrantState `json:"state"`
	// Since is when it got there.
	Since Time `json:"since"`
	// Principal is the person whose job it is.
	Principal Principal `json:"principal,omitzero"`
	// Epoch is the home's epoch that asked; 0 for a measurement.
	Epoch uint64 `json:"epoch,omitempty"`
	// GPU is how the GPU is lent.
	GPU GPUShare `json:"gpu"`
	// MemoryBytes is what is lent of the GPU's working set.
	MemoryBytes int64 `json:"memory_bytes"`
	// PortNumbers are those whose RDMA device is lent, exclusively.
	PortNumbers []PortNumber `json:"receptacles,omitempty"`
	// LeaseS is how long it holds without being renewed; 0 = until it is given back.
	LeaseS float64 `json:"lease_s,omitempty"`
	// Reason is why it waits, was refused or taken back; gpu_used_by_other_program where it holds although other programs use the GPU.
	Reason Reason `json:"reason,omitempty"`
	// WaitingFor says what is in the way: a holder, or words.
	WaitingFor string `json:"waiting_for,omitempty"`
}

const (
	// MaxAttempt bounds the attempt number of a job.
	MaxAttempt = 9999
	// MaxRank bounds the rank number of a job.
	MaxRank = 9999
)

// RankRef names one process of one attempt of a job, written
// `j4k2m9xq7/2/0`: job, attempt from 1, rank from 0.
type RankRef struct {
	Job     JobID
	Attempt int
	Rank    int
}

// ParseRankRef reads a rank reference; the job part as people write it.
func ParseRankRef(s string) (RankRef, error) {
	const field = "rank"
	parts := strings.Split(s, "/")
	if len(parts) != 3 {
		return RankRef{}, malformed(field, s, "is not job/attempt/rank", "write it as j4k2m9xq7/2/0")
	}
	job, err := ParseJobID(parts[0])
	if err != nil {
		return RankRef{}, err
	}
	attempt, err := parseCount("attempt", parts[1], 1, MaxAttempt)
	if err != nil {
		return RankRef{}, err
	}
	rank, err := parseCount(field, parts[2], 0, MaxRank)
	if err != nil {
		return RankRef{}, err
	}
	return RankRef{Job: job, Attempt: attempt, Rank: rank}, nil
}

// Valid reports whether all three parts are in range.
func (r RankRef) Valid() bool {
	return r.Job.Valid() && r.Attempt >= 1 && r.Attempt <= MaxAttempt && r.Rank >= 0 && r.Rank <= MaxRank
}

// Compare orders by job, attempt and rank.
func (r RankRef) Compare(o RankRef) int {
	return cmp.Or(cmp.Compare(r.Job, o.Job), cmp.Compare(r.Attempt, o.Attempt), cmp.Compare(r.Rank, o.Rank))
}

// String is the wire form.
func (r RankRef) String() string {
	return string(r.Job) + "/" + strconv.Itoa(r.Attempt) + "/" + strconv.Itoa(r.Rank)
}

// MarshalText writes the wire form and refuses an invalid reference.
func (r RankRef) MarshalText() ([]byte, error) {
	return marshalCanonical(r, "rank", "set job, attempt (from 1) and rank (from 0)")
}

// UnmarshalText reads the wire form only.
func (r *RankRef) UnmarshalText(text []byte) error {
	return unmarshalCanonical(r, text, "rank", ParseRankRef)
}

// RankPhaseInfo is a row of the table of phases.
type RankPhaseInfo struct {
	// Phase is the phase.
	Phase RankPhase
	// Next are the phases that may follow it; none for an end.
	Next []RankPhase
}

// RankPhases lists the phases and what may follow each.
func RankPhases() []RankPhaseInfo {
	return []RankPhaseInfo{
		{RankGranted, []RankPhase{RankPreparing, RankEnding, RankExited, RankLost}},
		{RankPreparing, []RankPhase{RankStarting, RankEnding, RankExited, RankLost}},
		{RankStarting, []RankPhase{RankHandshake, RankRunning, RankEnding, RankExited, RankLost}},
		{RankHandshake, []RankPhase{RankRunning, RankEnding, RankExited, RankLost}},
		{RankRunning, []RankPhase{RankEnding, RankExited, RankLost}},
		{RankEnding, []RankPhase{RankExited, RankLost}},
		{RankExited, nil},
		{RankLost, nil},
	}
}

// Next lists the phases that may follow.
func (p RankPhase) Next() []RankPhase {
	for _, info := range RankPhases() {
		if info.Phase == p {
			return info.Next
		}
	}
	return nil
}

// May reports whether next may follow.
func (p RankPhase) May(next RankPhase) bool { return slices.Contains(p.Next(), next) }

// Ended reports whether the phase is an end.
func (p RankPhase) Ended() bool { return p == RankExited || p == RankLost }
