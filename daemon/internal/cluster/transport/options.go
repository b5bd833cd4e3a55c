package transport

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"net/netip"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/cluster"
	"fulmen/daemon/internal/cluster/pairing"
	"fulmen/native"
)

// Members says who belongs to the cluster. It is asked at every handshake, and
// answers from memory.
type Members interface {
	// PublicKey is a current member's key; false for whoever is none.
	PublicKey(node api.NodeID) (ed25519.PublicKey, bool)
	// Cluster is the cluster's id now.
	Cluster() api.ClusterID
}

// Options is what a transport is made with.
type Options struct {
	Identity cluster.Identity
	Members  Members
	Sockets  native.Sockets
	Clock    native.Clock
	// Port is where peers connect; where it is taken, the next free one is
	// used. 0 = any.
	Port int
	// Hello is what this node says of itself on each path; Interface is added.
	Hello func() api.PeerHello
	// Pair gets the connection of a node that is no member and wants to become
	// one, or to take this one in. It returns when it is done with it.
	Pair func(ctx context.Context, c pairing.Conn)
	// IsPairing says whether strangers may speak at all now.
	IsPairing func() bool
	// Twice hears of every connection of a second machine with a member's identity,
	// as long as both are there and call. It must return at once.
	Twice func(node api.NodeID, at Path)
	// Denied hears after each dial whether the system keeps this node from the local
	// network, and where it did; "" = it does not. It must return at once.
	Denied func(at string)
	Log    *slog.Logger
}

// Interface is one of this node's interfaces, on which it listens and dials.
type Interface struct {
	Name      string
	Addresses []netip.Prefix
	// Rank orders paths, the lower the better: Thunderbolt before Ethernet
	// before Wi-Fi.
	Rank int
}

// Candidate is where a node may be reached.
type Candidate struct {
	Address netip.AddrPort `json:"address"`
	// Interface is by which of this node's interfaces; empty = those whose
	// network has the address, or the system's choice where none has.
	Interface string `json:"interface,omitempty"`
}

// Path is a way to a node.
type Path struct {
	// Interface and Source are this node's end.
	Interface string
	Source    netip.Addr
	// Address is where the peer listens, PeerInterface its interface there.
	Address       netip.AddrPort
	PeerInterface string
	State         api.PathState
	// Since is when it came into this state, by the wall clock.
	Since time.Time
	// RTTUS is the round trip when the path came up, in microseconds; 0 = not
	// known.
	RTTUS float64
	// Reason is why it failed.
	Reason api.Reason

	rank int
}

// PathEvent is a path that came or went.
type PathEvent struct {
	Node api.NodeID
	Path Path
	// Anew says that the node's daemon was started again since the last path came
	// up: it may lack what it was sent before.
	Anew bool
}

// The limits of a connection's beginning and of what is sent on it.
const (
	// handshakeWithin bounds the handshake and the first frame.
	handshakeWithin = 5 * time.Second
	// maxPacket is the largest packet; memberlist's are cut to fit one frame of
	// Ethernet with all headers.
	maxPacket = 1400
	// firstBytes bounds a first frame.
	firstBytes = 4 << 10
	// sendWithin bounds one write on a path.
	sendWithin = 10 * time.Second
	// queued is how many packets may wait for a slow path before they are
	// dropped.
	queued = 256
	// answerWithin is how long the best path has to accept a call or a stream
	// before the next one is tried as well.
	answerWithin = 100 * time.Millisecond
)
