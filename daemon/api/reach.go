package api

import "net/netip"

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
