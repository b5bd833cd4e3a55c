package gate

import (
	"slices"
	"strings"
	"time"

	"fulmen/daemon/api"
)

// Row is a route as the table has it.
type Row struct {
	// Name is the method, with the request behind a slash where it has several, or the kind
	// of a connection.
	Name string
	// Who may use it, and what proves that.
	Who   Who
	Proof string
	// Bytes bounds the parameters; 0 for a connection.
	Bytes int
	// AtOnce bounds how many of one caller are under way, below what the transport
	// allows a member in all; 0 = that alone.
	AtOnce int
	// Within bounds one call; 0 = the handler bounds it, as one that waits in line or
	// takes as long as what it measures.
	Within time.Duration
}

// Who is a class of callers. A node always passes its own gate as what it proves to be.
type Who string

// The classes of callers.
const (
	// WhoMember is every member of the cluster.
	WhoMember Who = "any member"
	// WhoHome is the job's legitimate home.
	WhoHome Who = "the job's home"
	// WhoFormer is the home that offers a job to this node.
	WhoFormer Who = "the previous home"
	// WhoPerson is the submitter's node, for who submitted the job, or the node where the
	// rank runs.
	WhoPerson Who = "the submitter's node"
	// WhoRank is a node where a rank of the job runs.
	WhoRank Who = "the rank's node"
	// WhoAccount is a person whom the map of this node leads to the job's account.
	WhoAccount Who = "who has the job's account here"
	// WhoReader is a person of the calling node who may read models here.
	WhoReader Who = "a person who may read models"
	// WhoCable is the node at the other end of the cable.
	WhoCable Who = "the cable's other end"
)

const (
	small    = 64 << 10
	message  = api.MaxMessageBytes
	answered = 30 * time.Second
)

// What proves a class.
const (
	byTLS     = "its key, in the roster"
	byWarrant = "the signed spec and the steps from its first home"
	byJob     = "the job's document that counts"
	byMap     = "this Mac's own map, and what it shares of models"
)

// The routes of any member.
var (
	Hello   = member("peer.hello", byTLS, small, answered)
	Put     = member("peer.put", "each document's signature", message, answered)
	Digest  = member("peer.digest", byTLS, message, answered)
	Pull    = member("peer.pull", byTLS, message, answered)
	Roster  = member("peer.roster", "each entry's signature", message, answered)
	Watch   = member("peer.watch", byTLS, small, answered)
	Unwatch = member("peer.unwatch", byTLS, small, answered)
	Hold    = member("peer.hold", "the document's signature, and the steps in it", message, answered)
	Measure = member("peer.measure", "this Mac's own rules", small, 0)
	Profile = member("peer.profile", "this Mac's own rules", small, 0)
)

// The routes of a job's home.
var (
	Preflight = home("peer.preflight", 2, message, 0)
	Grant     = home("peer.grant", 0, message, 0)
	Release   = home("peer.release", 0, message, answered)
	Listen    = home("peer.listen", 0, message, answered)
	Start     = home("peer.start", 0, message, answered)
	Spawn     = home("peer.spawn", 0, message, answered)
	Renew     = home("peer.renew", 0, message, answered)
	End       = home("peer.end", 0, message, answered)
)

// The routes of people and homes, about a job that this node knows.
var (
	SubmitJob = OfferRoute{add(Row{Name: "peer.job/submit", Who: WhoFormer, Proof: "its offer to this node", Bytes: message, Within: answered})}
	StopJob   = person("peer.job/stop", small)
	DeleteJob = person("peer.job/delete", small)
	JobValues = ValuesRoute{add(Row{Name: "peer.job/values", Who: WhoHome, Proof: "the steps from the first home", Bytes: message, Within: answered})}
	VoteHome  = VoteRoute{add(Row{Name: "peer.vote", Who: WhoMember, Proof: "the steps to the previous home", Bytes: message, Within: answered})}
	Resize    = person("peer.resize", small)
)

// Models is the route of people who want to know of models here.
var Models = ReaderRoute{add(Row{Name: "peer.models", Who: WhoReader, Proof: byMap, AtOnce: 2, Bytes: small, Within: 2 * time.Minute})}

// The routes of a cable's other end.
var (
	RDMA  = cable("peer.rdma")
	Probe = cable("peer.probe")
)

// The routes that are connections. Packets, calls, large documents and pairing are
// carried by the transport itself, which proves the caller's key first.
var (
	Stream      = MemberStream{conn(api.ConnStream, WhoMember, byTLS)}
	SideChannel = MemberStream{conn(api.ConnSideChannel, WhoRank, "the plan of the rank 0 that was started here")}
	Files       = RankStream{conn(api.ConnFiles, WhoRank, byJob)}
	Output      = PersonStream{conn(api.ConnOutput, WhoPerson, byJob)}
	Input       = PersonStream{conn(api.ConnInput, WhoPerson, byJob)}
	ModelCopy   = ReaderStream{conn(api.ConnModelCopy, WhoReader, byMap)}
	Model       = ReaderStream{conn(api.ConnModel, WhoReader, byMap)}
	Publish     = PersonStream{conn(api.ConnPublish, WhoPerson, byJob)}
)

var table []*Row

// Table lists the routes, by name.
func Table() []Row {
	rows := make([]Row, len(table))
	for i, r := range table {
		rows[i] = *r
	}
	slices.SortFunc(rows, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	return rows
}

func add(r Row) *Row {
	table = append(table, &r)
	return &r
}

// conn is a route that is a connection.
func conn(kind api.PeerConnKind, who Who, proof string) *Row {
	return add(Row{Name: string(kind), Who: who, Proof: proof})
}

func member(name, proof string, bytes int, within time.Duration) MemberRoute {
	return MemberRoute{add(Row{Name: name, Who: WhoMember, Proof: proof, Bytes: bytes, Within: within})}
}

func home(name string, atOnce, bytes int, within time.Duration) HomeRoute {
	return HomeRoute{add(Row{Name: name, Who: WhoHome, Proof: byWarrant, AtOnce: atOnce, Bytes: bytes, Within: within})}
}

func person(name string, bytes int) PersonRoute {
	return PersonRoute{add(Row{Name: name, Who: WhoPerson, Proof: byJob, Bytes: bytes, Within: answered})}
}

func cable(name string) CableRoute {
	return CableRoute{add(Row{Name: name, Who: WhoCable, Proof: "what this Mac sees at the cable", Bytes: small})}
}
