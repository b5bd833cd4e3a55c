package api

import "net/netip"

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
