package api

// Grant is the value of a grant document: what a node lends to one rank or one
// measurement. The node alone decides and takes back.
type Grant struct {
	// State is whether it holds.
	State GrantState `json:"state"`
	// Since is when it got there.
	Since Time `json:"since"`
	// Principal is for whom.
	Principal Principal `json:"principal,omitzero"`
	// Epoch is the home's epoch that asked; 0 for a measurement.
	Epoch uint64 `json:"epoch,omitempty"`
	// GPU is how the GPU is lent.
	GPU GPUShare `json:"gpu"`
	// MemoryBytes is what is lent of the GPU's working set.
	MemoryBytes int64 `json:"memory_bytes"`
	// Receptacles are those whose RDMA device is lent, exclusively.
	Receptacles []Receptacle `json:"receptacles,omitempty"`
	// LeaseS is how long it holds without being renewed; 0 = until it is given back.
	LeaseS float64 `json:"lease_s,omitempty"`
	// Reason is why it waits, was refused or taken back; gpu_used_by_other_program where it holds although other programs use the GPU.
	Reason Reason `json:"reason,omitempty"`
	// WaitingFor says what is in the way: a holder, or words.
	WaitingFor string `json:"waiting_for,omitempty"`
}

// GrantState is whether a grant holds.
type GrantState string

const (
	// GrantWaiting is queued behind other holders.
	GrantWaiting GrantState = "waiting"
	// GrantHeld holds.
	GrantHeld GrantState = "held"
	// GrantRefused was refused for good.
	GrantRefused GrantState = "refused"
	// GrantReleased was given back.
	GrantReleased GrantState = "released"
)

// Values lists the states.
func (GrantState) Values() []string {
	return words(GrantWaiting, GrantHeld, GrantRefused, GrantReleased)
}

// Valid reports whether the state belongs to this version.
func (s GrantState) Valid() bool { return known(s) }
