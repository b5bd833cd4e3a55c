package api

// NodeView is what one node derives about another, or about itself.
type NodeView struct {
	// Node is the id.
	Node NodeID `json:"node"`
	// ShortName is for people.
	ShortName string `json:"short_name"`
	// Self says that it is the node that is asked.
	Self bool `json:"self,omitempty"`
	// Simulated says that no real hardware is behind it.
	Simulated bool `json:"simulated,omitempty"`
	// Liveness is whether it is reached.
	Liveness Liveness `json:"liveness"`
	// Since is since when.
	Since Time `json:"since"`
	// Reason is why it is not reached.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
	// Paths are the ways to it, the best first.
	Paths []PathView `json:"paths,omitempty"`
}

// PathView is one way to a node.
type PathView struct {
	// Address is the peer with the address at which it answers.
	Address PeerAddress `json:"address"`
	// Interface is this node's interface.
	Interface string `json:"interface"`
	// Kind is what the path is made of.
	Kind LinkKind `json:"kind"`
	// State is what it is used for.
	State PathState `json:"state"`
	// RTTUS is the last round trip of a probe.
	RTTUS *float64 `json:"rtt_us,omitempty"`
}

// Liveness is whether one node reaches another. Each node derives it for itself.
type Liveness string

const (
	// LivenessAlive answers.
	LivenessAlive Liveness = "alive"
	// LivenessSuspect has just stopped answering.
	LivenessSuspect Liveness = "suspect"
	// LivenessUnreachable does not answer on any path.
	LivenessUnreachable Liveness = "unreachable"
	// LivenessRestarting said that it restarts; it may be waiting at FileVault.
	LivenessRestarting Liveness = "restarting"
	// LivenessAsleep said that it sleeps.
	LivenessAsleep Liveness = "asleep"
	// LivenessLeft said that it left.
	LivenessLeft Liveness = "left"
	// LivenessRemoved was removed from the roster.
	LivenessRemoved Liveness = "removed"
)

// Values lists the states.
func (Liveness) Values() []string {
	return words(LivenessAlive, LivenessSuspect, LivenessUnreachable, LivenessRestarting, LivenessAsleep,
		LivenessLeft, LivenessRemoved)
}

// Valid reports whether the state belongs to this version.
func (l Liveness) Valid() bool { return known(l) }

// Reached reports whether a node counts: it answers, what it says is not old, and its
// numbers are in the totals.
func (l Liveness) Reached() bool { return l == LivenessAlive }

// Totals are sums over the nodes that are reached. A sum leaves out the nodes
// that do not know; its count says how many it covers.
type Totals struct {
	// Nodes counts the nodes that are reached.
	Nodes int `json:"nodes"`
	// Members counts all members.
	Members int `json:"members"`
	// FP16TFLOPS is the measured compute.
	FP16TFLOPS *float64 `json:"fp16_tflops,omitempty"`
	// MemoryBytesPerS is the measured memory bandwidth.
	MemoryBytesPerS *int64 `json:"memory_bytes_per_s,omitempty"`
	// MeasuredNodes counts the nodes behind FP16TFLOPS and MemoryBytesPerS.
	MeasuredNodes int `json:"measured_nodes"`
	// MemoryTotalBytes is the memory.
	MemoryTotalBytes *int64 `json:"memory_total_bytes,omitempty"`
	// MemoryUsedBytes is the memory in use.
	MemoryUsedBytes *int64 `json:"memory_used_bytes,omitempty"`
	// PowerWatts is the whole machines' power where it is known, else the chips'.
	PowerWatts *float64 `json:"power_watts,omitempty"`
	// PowerNodes counts the nodes behind PowerWatts.
	PowerNodes int `json:"power_nodes"`
	// Simulated says that some of it is not real.
	Simulated bool `json:"simulated,omitempty"`
}
