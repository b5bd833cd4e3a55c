package api

import "net/netip"

// RDMAChange is the value of an rdma-change document, named by its cable: what
// this node changed for RDMA at its end, and what was there before, key by key.
type RDMAChange struct {
	// Link is the cable.
	Link LinkID `json:"link"`
	// Change tells one change of a cable from the next; both ends use the same.
	Change string `json:"change"`
	// State is how far it has come.
	State RDMAChangeState `json:"state"`
	// Since is when it got there.
	Since Time `json:"since"`
	// By is who asked.
	By Principal `json:"by"`
	// UndoneBy is who had it put back; absent where nobody wanted that.
	UndoneBy Principal `json:"undone_by,omitzero"`
	// StartedAt is when it began.
	StartedAt Time `json:"started_at"`
	// Interface is the network interface at this end.
	Interface string `json:"interface,omitempty"`
	// Address is what this end was given.
	Address netip.Prefix `json:"address,omitzero"`
	// Steps are the single changes, in the order in which they are made.
	Steps []RDMAStep `json:"steps,omitempty"`
	// Reason is why it failed; of one in force, why no data was sent to test it.
	Reason Reason `json:"reason,omitempty"`
	// Message is the reason as one sentence for a person.
	Message string `json:"message,omitempty"`
}

// RDMAStep is one setting changed.
type RDMAStep struct {
	// What is the kind of step.
	What RDMAStepKind `json:"what"`
	// Setting is the setting's path in the system's own terms.
	Setting string `json:"setting"`
	// Text is the step in words, as a dry run shows it.
	Text string `json:"text"`
	// Before is what was there, as text; absent where there was nothing.
	Before *string `json:"before,omitempty"`
	// After is what was put there, as text; absent where it was removed.
	After *string `json:"after,omitempty"`
	// State is how far the step has come.
	State RDMAStepState `json:"state"`
	// Found is what was there at undo, where somebody had changed it.
	Found *string `json:"found,omitempty"`
}

// RDMAChangeState is how far a change has come.
type RDMAChangeState string

const (
	// RDMAChangePlanned is recorded, nothing changed yet.
	RDMAChangePlanned RDMAChangeState = "planned"
	// RDMAChangeApplying is being made.
	RDMAChangeApplying RDMAChangeState = "applying"
	// RDMAChangeProving is made and being tested over the cable.
	RDMAChangeProving RDMAChangeState = "proving"
	// RDMAChangeActive is in force.
	RDMAChangeActive RDMAChangeState = "active"
	// RDMAChangeUndoing is being put back.
	RDMAChangeUndoing RDMAChangeState = "undoing"
	// RDMAChangeUndone was put back entirely.
	RDMAChangeUndone RDMAChangeState = "undone"
	// RDMAChangePartial was put back but for what somebody changed since.
	RDMAChangePartial RDMAChangeState = "partial"
)

// Values lists the states, in order.
func (RDMAChangeState) Values() []string {
	return words(RDMAChangePlanned, RDMAChangeApplying, RDMAChangeProving, RDMAChangeActive, RDMAChangeUndoing,
		RDMAChangeUndone, RDMAChangePartial)
}

// Valid reports whether the state belongs to this version.
func (s RDMAChangeState) Valid() bool { return known(s) }

// RDMAStepKind is what a step changes.
type RDMAStepKind string

const (
	// RDMAStepService makes or removes a network service.
	RDMAStepService RDMAStepKind = "service"
	// RDMAStepAddress sets or clears an address.
	RDMAStepAddress RDMAStepKind = "address"
	// RDMAStepBridge takes an interface out of a bridge or puts it back.
	RDMAStepBridge RDMAStepKind = "bridge"
)

// Values lists the kinds.
func (RDMAStepKind) Values() []string {
	return words(RDMAStepService, RDMAStepAddress, RDMAStepBridge)
}

// Valid reports whether the kind belongs to this version.
func (k RDMAStepKind) Valid() bool { return known(k) }

// RDMAStepState is how far a step has come.
type RDMAStepState string

const (
	// RDMAStepPlanned is not made yet.
	RDMAStepPlanned RDMAStepState = "planned"
	// RDMAStepDone is made.
	RDMAStepDone RDMAStepState = "done"
	// RDMAStepUndone was put back.
	RDMAStepUndone RDMAStepState = "undone"
	// RDMAStepLeft was left, because somebody had changed it since.
	RDMAStepLeft RDMAStepState = "left"
)

// Values lists the states.
func (RDMAStepState) Values() []string {
	return words(RDMAStepPlanned, RDMAStepDone, RDMAStepUndone, RDMAStepLeft)
}

// Valid reports whether the state belongs to this version.
func (s RDMAStepState) Valid() bool { return known(s) }
