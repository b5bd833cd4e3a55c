package api

import (
	"encoding/json"
	"reflect"
)

// PeerMethods lists what members of the cluster can call. Every name begins
// with peer., and none is in Methods.
func PeerMethods() []MethodInfo {
	return []MethodInfo{
		method[PeerHello, PeerHello]("peer.hello", ClassPeer, "",
			"Who each side is and what it has: the first call on a connection for calls."),
		method[PeerPutParams, PeerPutResult]("peer.put", ClassPeer, "",
			"Documents that are new or changed. Each is checked by its writer's signature, whoever brings it."),
		method[PeerDigestParams, PeerDigestResult]("peer.digest", ClassPeer, "",
			"Compares what both sides have, node by node, and gives what the caller lacks."),
		method[PeerPullParams, PeerPullResult]("peer.pull", ClassPeer, "",
			"Documents by key."),
		method[PeerRosterParams, PeerRosterResult]("peer.roster", ClassPeer, "",
			"Entries of the roster that the caller lacks; those that it brings are taken over."),
		method[PeerWatchParams, PeerWatchResult]("peer.watch", ClassPeer, "peer.changed",
			"The node's own documents of kinds that move, or are kept fresh, only while watched, until the connection ends."),
		method[PeerUnwatch, Empty]("peer.unwatch", ClassPeer, "",
			"Ends a subscription."),
		method[PeerJobParams, PeerJobResult]("peer.job", ClassPeer, "",
			"Hands a job to its home: a new one, or a person's request about it. The principal must be of the calling node."),
		method[PeerPreflightParams, Preflight]("peer.preflight", ClassPeer, "",
			"What the node has of what a job's program needs, as the principal's mapped account."),
		method[PeerGrantParams, Grant]("peer.grant", ClassPeer, "",
			"Asks for what a rank or a measurement needs; waits in line or says why not."),
		method[PeerHolderParams, Empty]("peer.release", ClassPeer, "",
			"Gives a grant back."),
		method[PeerStartParams, Empty]("peer.start", ClassPeer, "",
			"Starts a rank that has its grant. The node checks first that the caller is the job's home, and the plan."),
		method[PeerSpawnParams, Empty]("peer.spawn", ClassPeer, "",
			"Starts the program of a rank that was prepared and waits for the others. It may be repeated."),
		method[PeerRenewParams, PeerRenewResult]("peer.renew", ClassPeer, "",
			"Renews the lease of a job's ranks on the node."),
		method[PeerEndParams, Empty]("peer.end", ClassPeer, "",
			"Ends ranks of an attempt."),
		method[PeerHoldParams, PeerHoldResult]("peer.hold", ClassPeer, "",
			"Has the node hold a job's document before an attempt starts, and tells what other homes it has heard of."),
		method[PeerVoteParams, PeerVoteResult]("peer.vote", ClassPeer, "",
			"Asks for a vote that the caller be the home of a job whose home is gone."),
		method[PeerListenParams, PeerListenResult]("peer.listen", ClassPeer, "",
			"Finds a free port at each of the node's addresses for a rank, and keeps it from other ranks for a while."),
		method[PeerResizeParams, Empty]("peer.resize", ClassPeer, "",
			"Tells the pseudo-terminal of a rank its size."),
		method[PeerModelsParams, ModelListResult]("peer.models", ClassPeer, "",
			"Lists the models that a person of the caller may read here."),
		method[PeerMeasureParams, PeerMeasureResult]("peer.measure", ClassPeer, "",
			"Announces a measurement of a path; the answer has the one-time token for its connections."),
		method[PeerProfileParams, PeerProfileResult]("peer.profile", ClassPeer, "",
			"Has the node measure its GPU or a path of its own, if its own rules allow, and tells how far it is."),
		method[PeerProbeParams, PeerProbeResult]("peer.probe", ClassPeer, "",
			"One step of a test of a cable over RDMA, whose rank 1 is the node's."),
		method[PeerRDMAParams, RDMAChange]("peer.rdma", ClassPeer, "",
			"One step of a change of a cable at the node's end, if its own policy allows."),
	}
}

// PeerNotifications lists what a node sends to a member by itself, after that
// one asked for it.
func PeerNotifications() []NotificationInfo {
	return []NotificationInfo{
		{"peer.changed", reflect.TypeFor[StateChanged](), "Documents of a subscription that changed."},
	}
}

// PeerHello is who a node is.
type PeerHello struct {
	// Cluster is its cluster; another one ends the connection.
	Cluster ClusterID `json:"cluster"`
	// Protocol is the newest protocol that it speaks.
	Protocol int `json:"protocol"`
	// ProtocolMin is the oldest.
	ProtocolMin int `json:"protocol_min"`
	// Version is its version of Fulmen.
	Version string `json:"version"`
	// Interface is by which of its interfaces the connection came in.
	Interface string `json:"interface,omitempty"`
	// RosterSHA256 is the hash of the last entry of its roster.
	RosterSHA256 string `json:"roster_sha256"`
	// At is its wall clock, to find clocks that differ.
	At Time `json:"at"`
}

// PeerPutParams is documents.
type PeerPutParams struct {
	// Docs are the documents.
	Docs []Document `json:"docs"`
	// Offer are large ones, to be pulled.
	Offer []KeyVersion `json:"offer,omitempty"`
	// Missed are the members whom the sender does not tell by itself, because it
	// has no path to them: whoever has one passes the news on. The sender itself among
	// them says that it has documents of others that the receiver lacks and may ask for.
	Missed []NodeID `json:"missed,omitempty"`
	// Repair says that a digest asked for these, so that nobody else was told:
	// whoever learns something new compares digests with its other neighbours.
	Repair bool `json:"repair,omitempty"`
}

// PeerPutResult is what became of them.
type PeerPutResult struct {
	// Refused are those that were not taken, and why.
	Refused []Cause `json:"refused,omitempty"`
	// Watched says that a client of the node looks at such documents: who has news for many tells this one first.
	Watched bool `json:"watched,omitempty"`
}

// PeerDigestParams is what the caller has. First it tells one hash over
// everything; where that differs, it asks again with the nodes that differ.
type PeerDigestParams struct {
	// SHA256 is over all nodes' NodeVersion.SHA256, in the first question.
	SHA256 string `json:"sha256,omitempty"`
	// RosterSHA256 is the roster's, as in PeerHello.
	RosterSHA256 string `json:"roster_sha256,omitempty"`
	// Have is the newest version that the caller has of the documents of each node that differs.
	Have []NodeVersion `json:"have"`
	// Versions are the versions of these nodes' single documents, ordered by key.
	Versions []HeldVersion `json:"versions,omitempty"`
	// After, where not all versions fit a message, is the key after which this part begins.
	After *Key `json:"after,omitempty"`
	// Upto is the last key that this part is about; absent in the last part.
	Upto *Key `json:"upto,omitempty"`
}

// NodeVersion is the newest version of a node's documents.
type NodeVersion struct {
	// Node is the writer.
	Node NodeID `json:"node"`
	Version
	// Count is how many of the node's documents there are, deleted ones included.
	Count int `json:"count"`
	// SHA256 is over the node's keys and versions, sorted by key, so that a gap is
	// found: each kind and name followed by a zero byte, then inc and seq (8 bytes
	// each, big-endian) and the first 4 bytes of the signature.
	SHA256 string `json:"sha256"`
}

// HeldVersion is one document as somebody holds it.
type HeldVersion struct {
	KeyVersion
	// Check is the first 4 bytes of its signature, in hexadecimal: a writer that
	// was set back to an older state may have used a version twice.
	Check string `json:"check,omitempty"`
}

// PeerDigestResult is what the caller lacks, and what it has that is newer.
type PeerDigestResult struct {
	// Same says that both sides have the same documents.
	Same bool `json:"same,omitempty"`
	// RosterSHA256 is the hash of the answering node's roster.
	RosterSHA256 string `json:"roster_sha256,omitempty"`
	// Have is what the answering node has of each node, where the first question's hash differs.
	Have []NodeVersion `json:"have,omitempty"`
	// Docs are small documents that the caller lacks.
	Docs []Document `json:"docs,omitempty"`
	// Offer are large ones, to be pulled, and those that did not fit.
	Offer []KeyVersion `json:"offer,omitempty"`
	// Want are the documents that the caller has in newer versions, or alone.
	Want []Key `json:"want,omitempty"`
	// More says that not all fitted the message: the caller asks again.
	More bool `json:"more,omitempty"`
}

// PeerPullParams says which documents.
type PeerPullParams struct {
	// Keys are their keys.
	Keys []Key `json:"keys"`
}

// PeerPullResult is the documents that are there.
type PeerPullResult struct {
	// Docs are the documents.
	Docs []Document `json:"docs"`
	// More says that not all fitted the message.
	More bool `json:"more,omitempty"`
}

// PeerRosterParams is what the caller has and brings.
type PeerRosterParams struct {
	// Have are the hashes of the entries that the caller has, newest first, thinning out towards the oldest.
	Have []string `json:"have"`
	// Entries are entries that it brings.
	Entries []json.RawMessage `json:"entries,omitempty"`
}

// PeerRosterResult is what the caller lacks.
type PeerRosterResult struct {
	// Entries are the entries, the oldest first, as the bytes that were signed.
	Entries []json.RawMessage `json:"entries,omitempty"`
	// More says that not all fitted the message.
	More bool `json:"more,omitempty"`
}

// PeerWatchParams says which kinds.
type PeerWatchParams struct {
	// Kinds are the kinds, of those that move or are kept fresh only while watched.
	Kinds []Kind `json:"kinds"`
}

// PeerWatchResult is a snapshot and the subscription that continues it.
type PeerWatchResult struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
	// Docs are the documents.
	Docs []Document `json:"docs"`
}

// PeerUnwatch ends a subscription.
type PeerUnwatch struct {
	// Sub names the subscription.
	Sub Subscription `json:"sub"`
}

// PeerProbeParams is one step of a test of a cable over RDMA, asked of the end
// that does not measure. The steps of one test come in order.
type PeerProbeParams struct {
	// Step is what to do.
	Step PeerProbeStep `json:"step"`
	// Measurement tells this test from others, and holds what it needs.
	Measurement MeasureID `json:"measurement"`
	// Attempt tells the tries of one measurement apart, from 1.
	Attempt int `json:"attempt"`
	// Link is the cable.
	Link LinkID `json:"link"`
	// Devices is JACCL's matrix of both ends' devices; to run only.
	Devices [][][]string `json:"devices,omitempty"`
}

// PeerProbeResult is what a step gave.
type PeerProbeResult struct {
	// Device is the RDMA device of the end that was asked; of hold only.
	Device string `json:"device,omitempty"`
}

// PeerProfileParams is a request that the node measure something of its own, or the
// question how far that is.
type PeerProfileParams struct {
	// Measurement tells this request from others; the same again is the same request.
	Measurement MeasureID `json:"measurement"`
	// Document is the profile to fill: the node's GPU, or a path of its own.
	Document Key `json:"document"`
	// By is who wants it; absent where the calling node does.
	By Principal `json:"by,omitzero"`
	// MaxAgeS accepts an earlier result that is not older; 0 = measure now.
	MaxAgeS float64 `json:"max_age_s,omitempty"`
	// N is the last answer's; 0 = none yet.
	N uint64 `json:"n,omitempty"`
	// WaitS is how long to wait for another than that.
	WaitS float64 `json:"wait_s,omitempty"`
	// Cancel ends the request.
	Cancel bool `json:"cancel,omitempty"`
}

// PeerProfileResult is how far a measurement is. A request that nobody asks about
// any more is cancelled after a while.
type PeerProfileResult struct {
	// Item is the measurement's subject.
	Item MeasureItem `json:"item"`
	// N grows with every change of it.
	N uint64 `json:"n"`
}

// PeerConn is the first frame of every connection between peers, length-prefixed
// JSON. It says what the connection carries.
type PeerConn struct {
	// Carries is what follows.
	Carries PeerConnKind `json:"carries"`
	// Protocol is the newest protocol that the caller speaks.
	Protocol int `json:"protocol"`
	// Rank is the rank that dials its group, or whose input, output or port is meant.
	Rank RankRef `json:"rank,omitzero"`
	// Epoch is the epoch of the job's home; side channels and files only.
	Epoch uint64 `json:"epoch,omitempty"`
	// Output says what is wanted; output only.
	Output *PeerOutput `json:"output,omitempty"`
	// Input says who gives it; input only.
	Input *PeerInput `json:"input,omitempty"`
	// Model says which model is copied, and for whom; models only.
	Model *PeerModel `json:"model,omitempty"`
	// Copy says which model is to be fetched, from where and for whom; copies of models only.
	Copy *PeerModelCopy `json:"copy,omitempty"`
	// Port is the published port of rank 0; publish only.
	Port int `json:"port,omitempty"`
	// By is the person of the caller's whose requests go to it; absent = the submitter. Publish only.
	By Principal `json:"by,omitzero"`
	// Job is the job whose files are fetched from its submitter's node; files only.
	Job JobID `json:"job,omitempty"`
	// Token is the leave to measure; probes only.
	Token []byte `json:"token,omitempty"`
	// Document is what is sent; large documents only.
	Document *KeyVersion `json:"document,omitempty"`
}
