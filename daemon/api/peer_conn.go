package api

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
	// Port is the published port of rank 0; publish only.
	Port int `json:"port,omitempty"`
	// Job is the job whose files are fetched from its submitter's node; files only.
	Job JobID `json:"job,omitempty"`
	// Token is the leave to measure; probes only.
	Token []byte `json:"token,omitempty"`
	// Document is what is sent; large documents only.
	Document *KeyVersion `json:"document,omitempty"`
}

// PeerConnKind is what a connection between peers carries.
type PeerConnKind string

const (
	// ConnPackets carries memberlist's packets, on every verified path; it is the path's proof too.
	ConnPackets PeerConnKind = "packets"
	// ConnCalls carries JSON-RPC, length-prefixed, one connection on the best path.
	ConnCalls PeerConnKind = "calls"
	// ConnStream carries one of memberlist's streams.
	ConnStream PeerConnKind = "stream"
	// ConnSideChannel carries a rank's side channel to rank 0's node.
	ConnSideChannel PeerConnKind = "side_channel"
	// ConnProbe carries a measurement.
	ConnProbe PeerConnKind = "probe"
	// ConnDocument carries one large document.
	ConnDocument PeerConnKind = "document"
	// ConnFiles carries the files that a job copies to the node.
	ConnFiles PeerConnKind = "files"
	// ConnOutput carries what a rank prints.
	ConnOutput PeerConnKind = "output"
	// ConnInput carries a rank's input.
	ConnInput PeerConnKind = "input"
	// ConnPublish carries a connection to a published port of rank 0.
	ConnPublish PeerConnKind = "publish"
	// ConnPair carries pairing; the only one for a node that is not a member.
	ConnPair PeerConnKind = "pair"
)

// Values lists the kinds.
func (PeerConnKind) Values() []string {
	return words(ConnPackets, ConnCalls, ConnStream, ConnSideChannel, ConnProbe, ConnDocument, ConnFiles,
		ConnOutput, ConnInput, ConnPublish, ConnPair)
}

// Valid reports whether the kind belongs to this version.
func (k PeerConnKind) Valid() bool { return known(k) }
