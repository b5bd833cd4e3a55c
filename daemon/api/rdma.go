package api

import "net/netip"

// RDMA is the value of an rdma document, named by its receptacle: what the
// Mac could do there, what is switched on, and the device if there is one.
type RDMA struct {
	// PortNumber is the socket's number, as in the document's name.
	PortNumber PortNumber `json:"receptacle"`
	// HardwareCapable says whether the port's hardware can.
	HardwareCapable *bool `json:"hardware_capable,omitempty"`
	// OSCapable says whether the system's version can.
	OSCapable *bool `json:"os_capable,omitempty"`
	// SwitchedOn says whether the Mac's one switch is on; it takes effect with a restart.
	SwitchedOn *bool `json:"switched_on,omitempty"`
	// Device is the RDMA device of the port; absent where there is none.
	Device *RDMADevice `json:"device,omitempty"`
	// ProbesSinceBoot counts the tests that opened the device since the system started.
	ProbesSinceBoot int `json:"probes_since_boot"`
}

// RDMADevice is a device as librdma lists it. Reading it opens no protection
// domain and no queue pair.
type RDMADevice struct {
	// Name is the device's, such as rdma_en5.
	Name string `json:"name"`
	// Interface is the network interface beside it, such as en5.
	Interface string `json:"interface,omitempty"`
	// PortState is the state of its port.
	PortState RDMAPortState `json:"port_state,omitempty"`
	// SpeedBitsPerS is width times lane speed as the device states them.
	SpeedBitsPerS *int64 `json:"speed_bits_per_s,omitempty"`
	// MTUBytes is the active path MTU.
	MTUBytes *int64 `json:"mtu_bytes,omitempty"`
	// GIDs are the entries of the port's table that are set; absent where not read.
	GIDs []GID `json:"gids,omitzero"`
	// Limits are what the device can have at once, of all programs; absent where it does not tell.
	Limits *RDMALimits `json:"limits,omitempty"`
}

// RDMALimits are how many of each a device can have at once.
type RDMALimits struct {
	// QueuePairs are its queue pairs: JACCL takes one for each rank at the other end.
	QueuePairs int `json:"queue_pairs"`
	// CompletionQueues are its completion queues.
	CompletionQueues int `json:"completion_queues"`
	// MemoryRegions are its registered memory regions.
	MemoryRegions int `json:"memory_regions"`
	// ProtectionDomains are its protection domains.
	ProtectionDomains int `json:"protection_domains"`
}

// GID is one entry of a port's table of addresses.
type GID struct {
	// Index is its place in the table.
	Index int `json:"index"`
	// Address is the 128-bit GID as an IPv6 address; ::ffff:a.b.c.d is the IPv4-mapped form that JACCL needs.
	Address netip.Addr `json:"address"`
}

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

// RDMAReadiness is whether a cable can do RDMA, and why or why not.
type RDMAReadiness struct {
	// Link is the cable; absent where the other end does not run Fulmen.
	Link LinkID `json:"link,omitzero"`
	// Ends are the two ends, the lower first; one where the other is not known.
	Ends []CableEnd `json:"ends,omitempty"`
	// PeerName is what the other end calls itself, where it does not run Fulmen.
	PeerName string `json:"peer_name,omitempty"`
	// Verdict is the sum of the checks.
	Verdict RDMAVerdict `json:"verdict"`
	// Text is the verdict as one sentence for a person.
	Text string `json:"text"`
	// Checks are in the order in which a person goes through them.
	Checks []RDMACheck `json:"checks"`
	// ProbesSinceBoot is the larger of both ends' counts.
	ProbesSinceBoot int `json:"probes_since_boot"`
	// Stale says that an end cannot be reached now.
	Stale bool `json:"stale,omitempty"`
	// Simulated says that no real hardware is behind it.
	Simulated bool `json:"simulated,omitempty"`
}

// RDMACheck is one check.
type RDMACheck struct {
	// Check is its stable key.
	Check RDMACheckKey `json:"check"`
	// End is the end that it is about; absent where it is about the cable.
	End LinkEnd `json:"end,omitzero"`
	// Answer is yes, no or unknown.
	Answer Answer `json:"answer"`
	// Advice says that a no does not stop RDMA.
	Advice bool `json:"advice,omitempty"`
	// Reason is why it is not yes.
	Reason Reason `json:"reason,omitempty"`
	// Text is one sentence for a person.
	Text string `json:"text"`
	// Remedy is what to do.
	Remedy string `json:"remedy,omitempty"`
}

func rdmaMethods() []MethodInfo {
	return []MethodInfo{
		method[Empty, RDMAListResult]("rdma.list", ClassRead, "",
			"Every cable with its readiness for RDMA, and the Macs that need a person."),
		method[LinkSelect, RDMAReadiness]("rdma.check", ClassRead, "",
			"Every check of one cable, each with what to do."),
		method[RDMAChangeParams, RDMAChangeResult]("rdma.enable", ClassAdmin, "",
			"Puts RDMA in order on cables, at both ends or not at all. Refused unless the cable is Thunderbolt 5 and fast enough. Progress is in the rdma-change documents."),
		method[RDMAChangeParams, RDMAChangeResult]("rdma.disable", ClassAdmin, "",
			"Puts back what enable changed, setting by setting, leaving what somebody changed since."),
		method[RDMAChangeParams, RDMAChangeResult]("rdma.undo", ClassAdmin, "",
			"Puts back what any change left behind, also from before a removal of Fulmen and also without the other end."),
		method[LinkSelect, RDMAReadiness]("rdma.clear", ClassAdmin, "",
			"Says that the RDMA device of this Mac at a cable works, although a program was killed that had it open. Returns the checks of the cable."),
		method[RDMAHistoryParams, RDMAHistoryResult]("rdma.history", ClassRead, "",
			"Who changed what for RDMA on this node, and when."),
		method[LinkSelect, MeasureStarted]("rdma.probe", ClassUser, "measure.changed",
			"Tests a cable over RDMA with one MLX worker at each end."),
	}
}

// RDMAListResult is every cable's readiness.
type RDMAListResult struct {
	// Links are the cables, ordered by their ends.
	Links []RDMAReadiness `json:"links"`
	// Price is what all user actions together cost a person, as one line; empty where there are none.
	Price string `json:"price,omitempty"`
	// UserActions are the Macs where a person must flip the switch, with the steps for their system.
	UserActions []RDMAUserAction `json:"errands,omitempty"`
}

// RDMAUserAction is what a person has to do at one Mac.
type RDMAUserAction struct {
	// Node is the Mac.
	Node NodeID `json:"node"`
	// Kind is what has to be done there.
	Kind RDMAUserActionKind `json:"kind"`
	// EstimateS is about how long it takes.
	EstimateS float64 `json:"estimate_s"`
	// Steps are what to do there, in order.
	Steps []UserActionStep `json:"steps"`
	// Links are the cables that it makes ready.
	Links []LinkID `json:"links"`
	// Note is how it stands, such as that the Mac is away; empty where nothing has happened yet.
	Note string `json:"note,omitempty"`
	// Done says that it was made; it is listed for some minutes more.
	Done bool `json:"done,omitempty"`
}

// UserActionStep is one step of a user action.
type UserActionStep struct {
	// Text is what to do.
	Text string `json:"text"`
	// Done says that it has been seen to be done.
	Done bool `json:"done,omitempty"`
}

// RDMAChangeParams says on which cables.
type RDMAChangeParams struct {
	// Links are the cables.
	Links []LinkRef `json:"links,omitempty"`
	// AllReady means every cable that can be enabled; for disable and undo every one that was.
	AllReady bool `json:"all_ready,omitempty"`
	// DryRun gives the exact changes and makes none.
	DryRun bool `json:"dry_run,omitempty"`
}

// RDMAChangeResult is what was, or would be, changed.
type RDMAChangeResult struct {
	// Changes are the changes, two for each cable: one for each end.
	Changes []NodeRDMAChange `json:"changes"`
	// Refused are the cables that were left as they are, and why.
	Refused []Cause `json:"refused,omitempty"`
}

// NodeRDMAChange is a change with the node that makes it.
type NodeRDMAChange struct {
	// Node is the node.
	Node NodeID `json:"node"`
	RDMAChange
}

// RDMAHistoryParams says of what.
type RDMAHistoryParams struct {
	// Link is the cable; empty = all.
	Link LinkRef `json:"link,omitempty"`
}

// RDMAHistoryResult is the audit log.
type RDMAHistoryResult struct {
	// Changes are the changes of this node, the newest first.
	Changes []RDMAChange `json:"changes"`
}
