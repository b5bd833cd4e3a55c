package api

import "bytes"

// Quotas: how much one member may have of another one's memory, so that no member
// fills it for all. A desk has 2 to 16 Macs and at most 32; what is here is several
// times what those need.

// Quota bounds the documents of one writer and kind that another node keeps.
type Quota struct {
	// Documents is how many there may be that are not deleted.
	Documents int
	// Bytes is how much they may weigh together; see Document.Weight.
	Bytes int
	// Deleted is how many deletions are kept: those of the newest versions.
	Deleted int
}

// Quota is the kind's. The kinds that this version does not know share one.
func (k Kind) Quota() Quota {
	switch k {
	case KindJob: // a home keeps 200 that have ended, and a queue
		return Quota{2048, 12 << 20, 2048}
	case KindRank: // of all jobs that any home keeps
		return Quota{8192, 10 << 20, 2048}
	case KindGrant:
		return Quota{4096, 4 << 20, 2048}
	case KindReach: // every address of every other member
		return Quota{1024, 2 << 20, 512}
	case KindLinkProfile: // every path to every other member
		return Quota{512, 8 << 20, 512}
	case KindCondition:
		return Quota{512, 2 << 20, 512}
	case KindThunderbolt, KindRDMA, KindRDMAChange: // a Mac has at most 6 receptacles
		return Quota{64, 2 << 20, 64}
	}
	if k.Valid() {
		return Quota{1, 2 << 20, 1}
	}
	return Quota{64, 1 << 20, 64}
}

// QuotaKind is the kind under which a document is counted: empty for those that
// this version does not know.
func (k Kind) QuotaKind() Kind {
	if k.Valid() {
		return k
	}
	return ""
}

const (
	// MaxWriterBytes bounds the weight of all documents of one other node.
	MaxWriterBytes = 16 << 20
	// MaxForeignBytes bounds the weight of all documents of all other nodes. Above
	// it a node has its equal part of it and no more: whoever adds members of its own
	// making gains nothing by them.
	MaxForeignBytes = 64 << 20
)

// elementBytes is what an element of an array or object takes, once it is decoded,
// beside its text.
const elementBytes = 32

// Weight is about how many bytes of memory a document costs who keeps it: its text,
// and something for each element, so that a value of many small ones counts as
// what it becomes.
func (d *Document) Weight() int {
	const envelope = 384
	n := envelope + len(d.Kind) + len(d.Name) + len(d.Value) + elementBytes*bytes.Count(d.Value, []byte{','})
	for field, reason := range d.Unknown {
		n += len(field) + len(reason) + elementBytes
	}
	for field, raw := range d.Extra {
		n += len(field) + len(raw) + elementBytes
	}
	return n
}

// ConnQuota is how many connections of a kind one member may have open here.
func (k PeerConnKind) ConnQuota() int {
	switch k {
	case ConnPackets: // 3 paths, each replaced now and then before the old one has ended
		return 16
	case ConnCalls: // the one in use, one that a better path replaces, and two for last words
		return 4
	case ConnStream, ConnDocument:
		return 8
	case ConnProbe: // a measurement opens several side by side
		return 48
	case ConnFiles, ConnModel: // of a model one for each cable
		return 16
	case ConnOutput, ConnInput, ConnSideChannel: // one for each rank or reader
		return 64
	case ConnPublish: // one for each client of a program, and each request of the endpoint
		return 256
	}
	return 8
}

const (
	// MaxMemberConns bounds the connections of one member of all kinds together.
	MaxMemberConns = 384
	// MaxMemberCalls bounds the calls of one member that are worked on at once, over
	// all its connections.
	MaxMemberCalls = 48
	// MaxMemberCallBytes bounds the parameters of those calls together.
	MaxMemberCallBytes = 4 << 20
	// MemberCallRate is how much a second one member's calls may cost in the long run,
	// and MemberCallBurst how much at once. A call costs its CallCost, and 1 more for
	// each CallCostBytes of it.
	MemberCallRate = 500
	// MemberCallBurst is what one member may spend after a silence.
	MemberCallBurst = 4000
	// CallCostBytes is how many bytes of a message cost as much as a call.
	CallCostBytes = 4 << 10
)

// CallCost is what a member's call costs of MemberCallRate: 1 where it is answered
// from memory.
func CallCost(method string) int {
	switch method {
	case "peer.preflight", "peer.measure", "peer.profile", "peer.probe", "peer.rdma": // a process is started
		return 25
	case "peer.digest": // all documents are looked through
		return 20
	case "peer.pull", "peer.roster", "peer.watch", "peer.start", "peer.spawn":
		return 5
	}
	return 1
}
