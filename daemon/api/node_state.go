package api

import "net/netip"

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

// Reach is the value of a reach document, named by peer and address: the
// address answered with that peer's identity, over this interface.
type Reach struct {
	// Peer is who answered.
	Peer NodeID `json:"peer"`
	// Address is where it answered; a link-local IPv6 address has this node's zone.
	Address netip.Addr `json:"address"`
	// Port is the peer port there.
	Port int `json:"port"`
	// Interface is this node's interface that the answer came in by.
	Interface string `json:"interface"`
	// Source is this node's address on the path.
	Source netip.Addr `json:"source,omitzero"`
	// PeerInterface is the peer's interface, as the peer says.
	PeerInterface string `json:"peer_interface,omitempty"`
	// Kind is what the path is made of, the last that was known: a source that falls silent does not make it unknown.
	Kind LinkKind `json:"kind"`
	// KindAt is when Kind was last confirmed.
	KindAt Time `json:"kind_at,omitzero"`
	// VerifiedAt is when the identity was last proved.
	VerifiedAt Time `json:"verified_at"`
	// State says whether the path carries packets now.
	State PathState `json:"state"`
	// FailedAt is when it stopped answering.
	FailedAt Time `json:"failed_at,omitzero"`
	// Reason says why it is not used.
	Reason Reason `json:"reason,omitempty"`
}

// PathState is what a path to a peer is used for.
type PathState string

const (
	// PathActive carries packets.
	PathActive PathState = "active"
	// PathStandby answers, and is kept for when an active one fails.
	PathStandby PathState = "standby"
	// PathFailed answered once and does not now.
	PathFailed PathState = "failed"
)

// Values lists the states.
func (PathState) Values() []string { return words(PathActive, PathStandby, PathFailed) }

// Valid reports whether the state belongs to this version.
func (s PathState) Valid() bool { return known(s) }

// Pending is the value of a pending document, named by the asking node: an
// entry of the inbox. Nothing of it is proved yet.
type Pending struct {
	// Peer is the id that it claims.
	Peer NodeID `json:"peer"`
	// Name is the name that it claims.
	Name string `json:"name"`
	// ModelName is the model that it claims.
	ModelName string `json:"model_name,omitempty"`
	// Address is from where it asks.
	Address netip.AddrPort `json:"address"`
	// Interface is by which interface it asks.
	Interface string `json:"interface"`
	// State is what a person did with it.
	State PendingState `json:"state"`
	// Since is when it asked first.
	Since Time `json:"since"`
	// ExpiresAt is when its code stops to count.
	ExpiresAt Time `json:"expires_at,omitzero"`
	// TriesLeft counts the wrong codes that are still allowed.
	TriesLeft int `json:"tries_left"`
}

// PendingState is what a person did with an entry of the inbox.
type PendingState string

const (
	// PendingAsking waits for a person.
	PendingAsking PendingState = "asking"
	// PendingProving has a code and is checking it.
	PendingProving PendingState = "proving"
	// PendingLater was put off.
	PendingLater PendingState = "later"
	// PendingIgnored was ignored; it stays quiet until it is gone for a day.
	PendingIgnored PendingState = "ignored"
)

// Values lists the states.
func (PendingState) Values() []string {
	return words(PendingAsking, PendingProving, PendingLater, PendingIgnored)
}

// Valid reports whether the state belongs to this version.
func (s PendingState) Valid() bool { return known(s) }
