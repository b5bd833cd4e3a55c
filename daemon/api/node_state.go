package api

// NodeState is the value of a node-state document: what a node says of itself.
// Whether others can reach it is derived by each of them: see Liveness.
type NodeState struct {
	// State is what the node does.
	State SelfState `json:"state"`
	// Since is when that began.
	Since Time `json:"since"`
	// Reason is why, such as lid_closed.
	Reason Reason `json:"reason,omitempty"`
	// UserIdleS is for how long nobody has used the node, when it last changed between used and idle.
	UserIdleS *float64 `json:"user_idle_s,omitempty"`
	// Idle says whether the node counts as idle by its sharing policy.
	Idle *bool `json:"idle,omitempty"`
}

// SelfState is what a node says it does.
type SelfState string

const (
	// SelfAwake is at work.
	SelfAwake SelfState = "awake"
	// SelfAsleep sleeps, said just before.
	SelfAsleep SelfState = "asleep"
	// SelfStopping ends the daemon.
	SelfStopping SelfState = "stopping"
	// SelfRestarting restarts the machine.
	SelfRestarting SelfState = "restarting"
	// SelfLeft has left the cluster.
	SelfLeft SelfState = "left"
)

// Values lists the states.
func (SelfState) Values() []string {
	return words(SelfAwake, SelfAsleep, SelfStopping, SelfRestarting, SelfLeft)
}

// Valid reports whether the state belongs to this version.
func (s SelfState) Valid() bool { return known(s) }
