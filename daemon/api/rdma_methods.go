package api

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
	// Price is what all errands together cost a person, as one line; empty where there are none.
	Price string `json:"price,omitempty"`
	// Errands are the Macs where a person must flip the switch, with the steps for their system.
	Errands []RDMAErrand `json:"errands,omitempty"`
}

// RDMAErrand is a trip to one Mac.
type RDMAErrand struct {
	// Node is the Mac.
	Node NodeID `json:"node"`
	// Kind is what has to be done there.
	Kind RDMAErrandKind `json:"kind"`
	// EstimateS is about how long it takes.
	EstimateS float64 `json:"estimate_s"`
	// Steps are what to do there, in order.
	Steps []ErrandStep `json:"steps"`
	// Links are the cables that it makes ready.
	Links []LinkID `json:"links"`
	// Note is how it stands, such as that the Mac is away; empty where nothing has happened yet.
	Note string `json:"note,omitempty"`
	// Done says that it was made; it is listed for some minutes more.
	Done bool `json:"done,omitempty"`
}

// RDMAErrandKind is what has to be done at a Mac.
type RDMAErrandKind string

const (
	// ErrandRecovery is to start it in Recovery and to type a command there.
	ErrandRecovery RDMAErrandKind = "recovery"
	// ErrandSettings is to flip the switch in System Settings and to restart it.
	ErrandSettings RDMAErrandKind = "settings"
	// ErrandRestart is to restart it, since the switch is on and not yet in effect.
	ErrandRestart RDMAErrandKind = "restart"
)

// Values lists the kinds.
func (RDMAErrandKind) Values() []string {
	return words(ErrandRecovery, ErrandSettings, ErrandRestart)
}

// Valid reports whether the kind belongs to this version.
func (k RDMAErrandKind) Valid() bool { return known(k) }

// ErrandStep is one step of an errand.
type ErrandStep struct {
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
