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

// AuditCall is what somebody asked of this node for another node or for another
// account, and what came of it.
type AuditCall struct {
	// Node is the node that called; absent where a client on this Mac did.
	Node NodeID `json:"node,omitempty"`
	// By is the person who asked, as the calling node says; absent where the node asked
	// for itself.
	By Principal `json:"by,omitzero"`
	// Of is the person whose job, grant or measurement it is; absent where it is nobody's.
	Of Principal `json:"of,omitzero"`
	// Account is the account of this Mac as which it was done, or that was mapped.
	Account string `json:"account,omitempty"`
	// What is the method, the kind of connection (PeerConnKind), or AuditUnknown.
	What string `json:"what"`
	// Subject is what it is about: a job, a rank, a cable, a node, a person; or the names
	// of the parameters that were given. Never a value that may be secret.
	Subject string `json:"subject,omitempty"`
	// Why is why it was allowed, or that it was refused.
	Why AuditWhy `json:"why"`
	// Reason is why it was refused, or why what was allowed failed.
	Reason Reason `json:"reason,omitempty"`
}

// AuditUnknown is the What of a call for which this version has no method and no kind
// of connection.
const AuditUnknown = "unknown"

// AuditEntry is one call, or several that are the same but for their times and
// followed each other within AuditRepeat.
type AuditEntry struct {
	// Seq numbers this node's entries, in the order of First; a gap is what was dropped.
	Seq uint64 `json:"seq"`
	AuditCall
	// First is when the first of the calls was made.
	First Time `json:"first"`
	// Last is when the last was.
	Last Time `json:"last"`
	// Count is how many calls it stands for.
	Count uint64 `json:"count"`
	// Dropped is how many older calls by the same node or account were dropped to make
	// room, and are listed nowhere.
	Dropped uint64 `json:"dropped,omitempty"`
}
