package api

// EventsKept is how many events a daemon keeps; of older ones it knows nothing.
const EventsKept = 500

// Event is something that happened in the cluster, as one node saw it. Events are
// for people: what is so now the documents and derived lists tell, and a program
// follows those.
type Event struct {
	// Seq counts this daemon's events from its start, from 1. A gap is what was dropped.
	Seq uint64 `json:"seq"`
	// At is when this node saw it.
	At Time `json:"at"`
	// Kind is what happened.
	Kind EventKind `json:"kind"`
	// Severity is how much it matters.
	Severity Severity `json:"severity"`
	// Text is one sentence for a person, complete by itself.
	Text string `json:"text"`
	// Node is the node that it is about, or that says so.
	Node NodeID `json:"node,omitempty"`
	// Link is the cable that it is about.
	Link LinkID `json:"link,omitzero"`
	// Job is the job that it is about.
	Job JobID `json:"job,omitempty"`
	// Phase is where the job is now.
	Phase JobPhase `json:"phase,omitempty"`
	// Reason is the stable key of why: a condition's code, or why a node or a cable
	// is as it is.
	Reason Reason `json:"reason,omitempty"`
}

// EventKind is what happened.
type EventKind string

const (
	// EventNodeJoined is a node that has become a member.
	EventNodeJoined EventKind = "node_joined"
	// EventNodeReached is a member that answers, and did not before.
	EventNodeReached EventKind = "node_reached"
	// EventNodeLost is a member that does not answer any more.
	EventNodeLost EventKind = "node_lost"
	// EventNodeLeft is a node that is no member any more.
	EventNodeLeft EventKind = "node_left"
	// EventCablePlugged is a cable that was plugged in.
	EventCablePlugged EventKind = "cable_plugged"
	// EventCablePulled is a cable that was pulled out.
	EventCablePulled EventKind = "cable_pulled"
	// EventCableChanged is a cable that has become better or worse.
	EventCableChanged EventKind = "cable_changed"
	// EventRDMAChanged is a cable that has become ready for RDMA, or is it no longer.
	EventRDMAChanged EventKind = "rdma_changed"
	// EventConditionRaised is a condition that holds now.
	EventConditionRaised EventKind = "condition_raised"
	// EventConditionCleared is a condition that holds no longer.
	EventConditionCleared EventKind = "condition_cleared"
	// EventJobChanged is a job that is new, or in another phase.
	EventJobChanged EventKind = "job_changed"
)

// Values lists the kinds.
func (EventKind) Values() []string {
	return words(EventNodeJoined, EventNodeReached, EventNodeLost, EventNodeLeft, EventCablePlugged, EventCablePulled,
		EventCableChanged, EventRDMAChanged, EventConditionRaised, EventConditionCleared, EventJobChanged)
}

// Valid reports whether the kind belongs to this version.
func (k EventKind) Valid() bool { return known(k) }
