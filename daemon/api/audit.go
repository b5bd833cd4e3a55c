package api

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

// AuditWhy is why a call was allowed, or that it was refused.
type AuditWhy string

const (
	// AuditSubmitter is the person who submitted the job, or their node.
	AuditSubmitter AuditWhy = "submitter"
	// AuditHome is the node that keeps the job.
	AuditHome AuditWhy = "home"
	// AuditRankNode is a node on which a rank of the job runs.
	AuditRankNode AuditWhy = "rank_node"
	// AuditCableEnd is the node at the other end of the cable.
	AuditCableEnd AuditWhy = "cable_end"
	// AuditMappedAccount is whoever has the account as which the job runs.
	AuditMappedAccount AuditWhy = "mapped_account"
	// AuditSharing is somebody to whom this Mac lends what was asked for.
	AuditSharing AuditWhy = "sharing"
	// AuditMeasurement is who holds the leave for the measurement.
	AuditMeasurement AuditWhy = "measurement"
	// AuditMember is any member of the cluster.
	AuditMember AuditWhy = "member"
	// AuditAdmin is an administrator of this Mac.
	AuditAdmin AuditWhy = "admin"
	// AuditRefused is a call that was refused; the reason says why.
	AuditRefused AuditWhy = "refused"
)

// Values lists the words.
func (AuditWhy) Values() []string {
	return words(AuditSubmitter, AuditHome, AuditRankNode, AuditCableEnd, AuditMappedAccount, AuditSharing, AuditMeasurement,
		AuditMember, AuditAdmin, AuditRefused)
}

// Valid reports whether the word belongs to this version.
func (w AuditWhy) Valid() bool { return known(w) }
